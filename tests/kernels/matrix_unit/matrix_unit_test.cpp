#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/cli/saved.h"
#include "tests/kernels/right.h"

using namespace tessera;
using test::CommandFolder;
using test::compare;
using test::kSingle;
using test::matrix;
using test::Matrix;
using test::run_saving;
using test::tensors_config;

TEST_SUITE("run") {
  TEST_CASE("every number of positions gives the right sums in the predicted cycles") {
    test::check_right("matrix_unit");
  }
}

/// What users see of a matrix unit: its results in files.
TEST_SUITE("cli") {
  TEST_CASE("a matrix unit's Y is Y0 + X W, tile by tile") {
    const CommandFolder folder;
    run_saving(folder, tensors_config(R"("kernel": "matrix_unit", "n": 6, "dtype": "f16_f32")", 2));
    const auto tile = [&](const std::string& name, std::uint64_t t) {
      const data::NumpyArray all = test::saved(folder, name);
      const std::uint64_t size = all.shape[1] * all.shape[2];
      const auto first = all.values.begin() + static_cast<std::ptrdiff_t>(t * size);
      return Matrix{all.shape[1], all.shape[2],
                    std::vector<double>(first, first + static_cast<std::ptrdiff_t>(size))};
    };
    for (std::uint64_t t = 0; t < 2; ++t) {
      const Matrix before = tile("Y0", t);
      CHECK(compare(tile("Y", t), tile("X", t), tile("W", t), kSingle, &before) == "equal");
    }
  }
}
