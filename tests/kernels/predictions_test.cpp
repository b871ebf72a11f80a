#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include "tests/kernels/drawn_points.h"
#include "tests/kernels/run_workload.h"

using namespace tessera;

namespace {

constexpr int kPoints = 6;

/// By how much predicted cycles miss the simulated ones at random points, least first.
std::vector<std::pair<double, int>> misses(const test::Point& stated) {
  test::MachinePoints points(stated.facts.at("seed"));
  std::vector<std::pair<double, int>> found;
  for (int i = 0; i < kPoints; ++i) {
    MachineConfig machine = points.machine();
    if (stated.facts.contains("sram_kib")) {
      const std::vector<std::uint32_t> sizes = stated.facts.at("sram_kib");
      machine.tile.sram_kib = sizes[points.below(sizes.size())];
      points.external(machine);
    }
    if (stated.facts.contains("unit"))
      test::draw_unit(points, stated.facts.at("unit"), machine.tile.matrix_unit);
    const test::Point point = test::drawn_point(stated, points, machine.tiles);
    const auto ratio = [](const RunResult& result, const Workload& workload) {
      return fmt::format(" {}", static_cast<double>(workload.prediction().cycles) /
                                    static_cast<double>(result.time.total().count()));
    };
    const std::string said = test::run_options(*point.options_read(), machine, ratio);
    CAPTURE(point.describe());
    CAPTURE(i);
    CAPTURE(said);
    REQUIRE(said.starts_with("passed "));
    found.emplace_back(std::abs(std::stod(said.substr(sizeof "passed")) - 1), i);
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// In the median, and at worst.
void check_predictions(const char* list, double worst) {
  for (const test::Point& stated : test::points(list)) {
    CAPTURE(stated.kernel);
    const auto found = misses(stated);
    CHECK(found[found.size() / 2].first <= 0.10);
    CHECK_MESSAGE(found.back().first <= worst, "point ", found.back().second);
    MESSAGE(stated.kernel, ": ", found[found.size() / 2].first, ", at worst ", found.back().first);
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
