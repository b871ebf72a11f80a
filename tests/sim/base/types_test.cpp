#include "sim/base/types.h"

#include <doctest/doctest.h>

TEST_SUITE("unit") {
  TEST_CASE("quantities of one unit add") {
    CHECK((tessera::Cycle(2) + tessera::Cycle(3)).count() == 5);
  }
}
