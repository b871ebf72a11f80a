#include <doctest/doctest.h>

#include "tests/kernels/right.h"

TEST_SUITE("run") {
  TEST_CASE("every operation and number of chains is exact in the predicted cycles") {
    tessera::test::check_right("latency");
  }
}
