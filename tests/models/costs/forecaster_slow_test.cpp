#include "tests/models/costs/forecasts.h"

using namespace tessera;

TEST_SUITE("slow") {
  TEST_CASE("a forecast of any move of any kernel does not depend on what was asked before") {
    for (const test::Point& point : test::small_points())
      test::check_forecasts(point, test::moves());
  }
}
