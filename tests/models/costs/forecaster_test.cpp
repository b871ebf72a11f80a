#include "tests/models/costs/forecasts.h"

using namespace tessera;

TEST_SUITE("unit") {
  TEST_CASE("a forecast does not depend on what was asked before, nor on threads") {
    // Each kernel tests every third perturbation, so that each perturbation meets several kernels.
    std::size_t kernel = 0;
    for (const test::Point& point : test::small_points()) {
      test::Sets asked;
      for (std::size_t i = kernel++ % 3; i < test::moves().size(); i += 3)
        asked.push_back(test::moves()[i]);
      test::check_forecasts(point, asked);
    }
  }
}
