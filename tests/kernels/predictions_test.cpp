#include "tests/kernels/predictions.h"

#include <algorithm>
#include <vector>

using namespace tessera;

namespace {

constexpr int kPoints = 3;

/// Checks the errors of the predicted cycles, in the median and at worst.
void check_predictions(const char* list, double worst) {
  for (const test::Point& stated : test::points(list)) {
    test::MachinePoints points(stated.facts.at("seed"));
    std::vector<test::Predicted> all;
    all.reserve(kPoints);
    for (int i = 0; i < kPoints; ++i) all.push_back(test::predict_drawn(stated, points));
    std::ranges::sort(all, {}, &test::Predicted::miss);
    CAPTURE(stated.kernel);
    CHECK(all[all.size() / 2].miss() <= 0.10);
    CHECK_MESSAGE(all.back().miss() <= worst, all.back().ratio, " times: ", all.back().point);
    MESSAGE(stated.kernel, ": ", all[all.size() / 2].miss(), ", at worst ", all.back().miss());
  }
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("kernels take the predicted cycles on machines of every kind") {
    check_predictions("predicted", 0.25);
  }

  TEST_CASE("kernels take the predicted cycles where operands lie outside the tiles") {
    check_predictions("predicted_outside", 0.15);
  }
}
