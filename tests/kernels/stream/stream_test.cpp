#include <vector>

#include <doctest/doctest.h>

#include "tests/cli/saved.h"
#include "tests/kernels/right.h"

using namespace tessera;

TEST_SUITE("run") {
  TEST_CASE("every operation and type is exact in the predicted cycles") {
    test::check_right("stream");
  }
}

/// Inputs and results in files: what is saved is what was computed, whatever lies where.
TEST_SUITE("cli") {
  TEST_CASE("STREAM's a is b + 1.5 c") {
    const test::CommandFolder folder;
    test::run_saving(folder,
                     test::tensors_config(
                         R"("kernel": "stream", "elements_per_worker": 20, "dtype": "f32")", 2));
    const std::vector<double> a = test::saved(folder, "a").values;
    const std::vector<double> b = test::saved(folder, "b").values;
    const std::vector<double> c = test::saved(folder, "c").values;
    REQUIRE(a.size() == 2 * 6 * 20);
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == b[i] + 1.5 * c[i]);
  }
}
