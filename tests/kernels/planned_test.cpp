#include "tests/kernels/planned.h"

#include <doctest/doctest.h>

using namespace tessera::test;

TEST_SUITE("run") {
  TEST_CASE("plans are as kernels state, alone and beside other plans") {
    for (const Point& stated : points("planned"))
      for (const Point& point : combinations(stated)) {
        const InFolder folder(point);
        point.facts.contains("along") ? check_along(point) : check_planned(point);
      }
  }
}
