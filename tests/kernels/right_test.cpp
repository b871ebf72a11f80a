#include "tests/kernels/right.h"

#include <cstdlib>

/// Checks the list `right` of kernels' points: correct results, and the predicted cycles where a
/// point states them. ctest runs it once per kernel, whose name is in TESSERA_KERNEL.
TEST_SUITE("run") {
  TEST_CASE("points of the list `right` are right, in the predicted cycles where they say so") {
    const char* const kernel = std::getenv("TESSERA_KERNEL");
    tessera::test::check_right(kernel == nullptr ? "" : kernel);
  }
}
