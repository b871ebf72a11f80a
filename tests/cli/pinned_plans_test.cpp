#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/cli/command.h"
#include "tests/kernels/planned.h"

using tessera::config::Json;
using namespace tessera::test;

/// Pins the plan that a run reports as the plan of the same run.
namespace {

constexpr const char* kMachines[] = {R"({"extends": "bow", "tiles": 5})",
                                     R"({"extends": "wse2", "tiles": 16})",
                                     R"({"extends": "gc2", "tiles": 8})"};

Json machine(const char* of) {
  Json made = parsed_json(of);
  made["tile"]["matrix_unit"]["i8"]["outputs"] = 8;
  return made;
}

/// The machine that a point names, or else all three.
std::vector<Json> machines(const Point& point) {
  const bool names_one = std::ranges::any_of(
      point.sets, [](const std::string& set) { return set.starts_with("machine="); });
  if (names_one) return {tessera::config::resolved(config_of(point, 0).machine)};
  std::vector<Json> all;
  for (const char* of : kMachines) all.push_back(machine(of));
  return all;
}

std::vector<Json> answers(const CommandFolder& folder, const std::vector<Json>& points) {
  std::string lines;
  for (const Json& point : points) lines += point.dump() + "\n";
  const Answer answer = folder.done("eval --stdin", lines);
  std::vector<Json> answers;
  std::istringstream text(answer.out);
  for (std::string line; std::getline(text, line);) answers.push_back(parsed_json(line));
  REQUIRE(answers.size() == points.size());
  return answers;
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("a plan as it is printed can be pinned, and gives the same cycles") {
    const CommandFolder folder;
    std::vector<Json> points;
    for (const Point& stated : tessera::test::points("pinned"))
      for (const Point& each : combinations(stated))
        for (const Json& on : machines(each))
          points.push_back({{"machine", on}, {"workload", each.workload()}});
    const std::vector<Json> planned = answers(folder, points);
    for (std::size_t i = 0; i < points.size(); ++i) {
      INFO(points[i].dump());
      REQUIRE(planned[i]["status"] == "done");
      points[i]["workload"]["plan"] = planned[i]["report"]["plan"];
      points[i]["workload"]["used_tiles"] = planned[i]["report"]["workload"].value("used_tiles", 0);
    }
    const std::vector<Json> pinned = answers(folder, points);
    for (std::size_t i = 0; i < points.size(); ++i) {
      INFO(points[i].dump());
      CHECK(pinned[i]["error"] == planned[i]["error"]);
      CHECK(pinned[i]["report"]["time"]["cycles"] == planned[i]["report"]["time"]["cycles"]);
    }
  }

  TEST_CASE("a kernel prints a plan only where it takes one") {
    const CommandFolder folder;
    std::vector<Json> points;
    for (const Point& each : small_points())
      points.push_back({{"machine", machine(kMachines[0])}, {"workload", each.workload()}});
    const std::vector<Json> planned = answers(folder, points);
    std::size_t without = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      INFO(points[i].dump());
      REQUIRE(planned[i]["status"] == "done");
      const Json& plan = planned[i]["report"]["plan"];
      if (plan.empty())
        ++without;
      else
        points[i]["workload"]["plan"] = plan;
    }
    CHECK(without > 0);
    CHECK(without < points.size());
    const std::vector<Json> pinned = answers(folder, points);
    for (std::size_t i = 0; i < points.size(); ++i) {
      INFO(points[i].dump());
      CHECK(pinned[i]["error"] == planned[i]["error"]);
    }
  }
}
