#include <optional>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"
#include "tests/cli/saved.h"

using namespace tessera;
using namespace tessera::test;

/// Options of a pixelfly layer.
namespace {

Matrix scaled(Matrix matrix, double factor) {
  for (double& each : matrix.values) each *= factor;
  return matrix;
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE(
      "a pixelfly layer is S + U V^T, or gamma S + (1 - gamma) U V^T, its gradients likewise") {
    const CommandFolder folder;
    for (const std::optional<double> gamma : {std::optional<double>(), {0.0}, {0.3}, {1.0}}) {
      const double of_s = gamma.value_or(1);
      const double of_uv = gamma ? 1 - *gamma : 1;
      const std::string pixelfly = fmt::format(
          R"("kernel": "pixelfly", "m": 32, "k": 32, "n": 12, "block": 4, "rank": 8,
             "dtype": "f32", "gamma": {}, "pass": )",
          gamma ? fmt::format("{}", *gamma) : "null");
      run_saving(folder, tensors_config(pixelfly + R"("forward")"));
      const Matrix u = matrix(folder, "U");
      const Matrix v = matrix(folder, "V");
      Matrix w = scaled(blocks(folder, "S", 32, 32), of_s);
      for (std::uint64_t i = 0; i < 32; ++i)
        for (std::uint64_t j = 0; j < 32; ++j)
          for (std::uint64_t q = 0; q < 8; ++q) w.at(i, j) += of_uv * u.at(i, q) * v.at(j, q);
      CHECK(compare(matrix(folder, "Y"), w, matrix(folder, "X"), 2e-5) == "equal");
      run_saving(folder, tensors_config(pixelfly + R"("grad_input")"));
      CHECK(compare(matrix(folder, "dX"), transposed(w), matrix(folder, "dY"), 2e-5) == "equal");
      run_saving(folder, tensors_config(pixelfly + R"("grad_weights")"));
      const Matrix x = matrix(folder, "X");
      const Matrix dy = matrix(folder, "dY");
      CHECK(
          compare_filled(blocks(folder, "dS", 32, 32), scaled(product(dy, transposed(x)), of_s)) ==
          (of_s == 0 ? 0 : test::saved(folder, "dS.data").values.size()));
      CHECK(compare(matrix(folder, "dU"), scaled(dy, of_uv), transposed(product(transposed(v), x)),
                    2e-5) == "equal");
      CHECK(compare(matrix(folder, "dV"), scaled(x, of_uv), transposed(product(transposed(u), dy)),
                    2e-5) == "equal");
    }
  }
}
