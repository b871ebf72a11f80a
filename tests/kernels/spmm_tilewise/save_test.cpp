#include <doctest/doctest.h>

#include "tests/cli/saved.h"

using tessera::test::CommandFolder;
using tessera::test::compare;
using tessera::test::kHalf;
using tessera::test::matrix;
using tessera::test::run_saving;
using tessera::test::tensors_config;

/// Inputs and results in files: what is saved is what was computed, whatever lies where.
TEST_SUITE("cli") {
  TEST_CASE("C is A times the pruned matrix") {
    const CommandFolder folder;
    run_saving(folder, tensors_config(
                           R"("kernel": "spmm_tilewise", "m": 40, "k": 64, "n": 48, "method": "tew",
                       "granularity": 16, "overlay": 0.05, "dtype": "f16")"));
    CHECK(compare(matrix(folder, "C"), matrix(folder, "A"), matrix(folder, "W"), kHalf) == "equal");
  }
}
