#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include "tests/kernels/machine_points.h"
#include "tests/kernels/points.h"
#include "tests/kernels/run_workload.h"

using namespace tessera;
using config::Json;

namespace {

constexpr int kPoints = 40;

/// Smaller units than the shipped ones, these, larger ones; none where `outputs` has 0.
void draw_unit(test::MachinePoints& points, const std::vector<std::uint32_t>& outputs,
               MatrixUnitConfig& unit) {
  for (MatrixShape* shape : {&unit.f16, &unit.f16_f32, &unit.f32}) {
    shape->inputs = points.one_of({8U, 16U, 32U, 64U});
    shape->outputs = outputs[points.below(outputs.size())];
    while (!shape->allowed()) shape->inputs *= 2;
    shape->interval = points.one_of({1U, 1U, 2U});
  }
}

/// Whether the keys drawn so far have one of these values each.
bool holds(const Json& when, const Json& drawn) {
  for (const auto& [key, values] : when.items())
    if (std::find(values.begin(), values.end(), drawn.value(key, Json())) == values.end())
      return false;
  return true;
}

/// The point with one value set for each of its draws: {key: values}, or {key: {"when", "of"}} for
/// keys that others allow.
test::Point drawn_point(test::Point point, test::MachinePoints& points, unsigned tiles) {
  Json drawn = {{"machine.tiles", tiles}};
  for (const auto& [key, draw] : point.facts.at("draws").items()) {
    if (draw.is_object() && !holds(draw.at("when"), drawn)) continue;
    const Json& values = draw.is_object() ? draw.at("of") : draw;
    drawn[key] = values.size() == 1 ? values[0] : values[points.below(values.size())];
    point.sets.push_back(fmt::format("workload.{}={}", key, drawn[key].dump()));
  }
  return point;
}

/// By how much predicted cycles miss the simulated ones at random points, least first.
std::vector<std::pair<double, int>> misses(const test::Point& stated) {
  test::MachinePoints points(stated.facts.at("seed"));
  std::vector<std::pair<double, int>> found;
  for (int i = 0; i < kPoints; ++i) {
    MachineConfig machine = points.machine();
    if (stated.facts.contains("unit"))
      draw_unit(points, stated.facts.at("unit"), machine.tile.matrix_unit);
    const test::Point point = drawn_point(stated, points, machine.tiles);
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

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("kernels take the predicted cycles on machines of every kind") {
    for (const test::Point& stated : test::points("predicted")) {
      CAPTURE(stated.kernel);
      const auto found = misses(stated);
      CHECK(found[found.size() / 2].first <= 0.10);
      CHECK_MESSAGE(found.back().first <= 0.25, "point ", found.back().second);
    }
  }
}
