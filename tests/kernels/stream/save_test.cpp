#include <vector>

#include <doctest/doctest.h>

#include "tests/cli/saved.h"

using namespace tessera;
using test::CommandFolder;
using test::run_saving;
using test::tensors_config;

/// Inputs and results in files: what is saved is what was computed, whatever lies where.
TEST_SUITE("cli") {
  TEST_CASE("STREAM's a is b + 1.5 c") {
    const CommandFolder folder;
    run_saving(folder, tensors_config(
                           R"("kernel": "stream", "elements_per_worker": 20, "dtype": "f32")", 2));
    const std::vector<double> a = test::saved(folder, "a").values;
    const std::vector<double> b = test::saved(folder, "b").values;
    const std::vector<double> c = test::saved(folder, "c").values;
    REQUIRE(a.size() == 2 * 6 * 20);
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == b[i] + 1.5 * c[i]);
  }
}
