#include "tests/kernels/right.h"

#include <cstdlib>

/// The list `right` of kernels' points: results are right, and cycles as predicted where they say
/// so. The test of one kernel, which ctest runs for each, is told its name.
TEST_SUITE("run") {
  TEST_CASE("points of the list `right` are right, in the predicted cycles where they say so") {
    const char* const kernel = std::getenv("TESSERA_KERNEL");
    tessera::test::check_right(kernel == nullptr ? "" : kernel);
  }
}
