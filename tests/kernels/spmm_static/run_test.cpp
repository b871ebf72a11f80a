#include <doctest/doctest.h>

#include "tests/kernels/right.h"

TEST_SUITE("run") {
  TEST_CASE("points of the list `right` give the right results") {
    tessera::test::check_right("spmm_static");
  }
}
