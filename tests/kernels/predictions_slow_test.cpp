#include <algorithm>
#include <vector>

#include "tests/kernels/predictions.h"

using namespace tessera::test;

TEST_SUITE("slow") {
  TEST_CASE("kernels take the predicted cycles at three thousand random points") {
    constexpr std::size_t kPoints = 3000, kTold = 250;
    std::vector<Point> stated = points("predicted");
    for (Point& point : points("predicted_outside")) stated.push_back(std::move(point));
    std::vector<MachinePoints> machines = machines_for(stated, 5);
    std::vector<double> misses;
    for (std::size_t i = 0; i < kPoints; ++i) {
      const Predicted one = predict_drawn(stated[i % stated.size()], machines[i % stated.size()]);
      misses.push_back(one.miss());
      if (one.miss() > 0.05) MESSAGE("point ", i, ", ", one.ratio, " times: ", one.point);
      if ((i + 1) % kTold == 0)
        MESSAGE(misses.size(), " points, at worst ",
                *std::max_element(misses.begin(), misses.end()));
    }
    std::sort(misses.begin(), misses.end());
    MESSAGE("median ", misses[kPoints / 2], ", p99 ", misses[kPoints * 99 / 100], ", at worst ",
            misses.back());
    CHECK(misses[kPoints * 99 / 100] < 0.05);
    CHECK(misses.back() < 0.15);
  }
}
