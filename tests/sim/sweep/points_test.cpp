#include "sim/sweep/points.h"

#include <doctest/doctest.h>

#include "kernels/catalogue.h"
#include "tests/cli/command.h"

using namespace tessera;
using config::Json;

namespace {

/// The points of a config: the values of the axes of each, such as "1,3 1,4 ".
std::string points(const std::string& section, const std::vector<std::string>& axes = {},
                   const std::vector<std::string>& sets = {}) {
  const test::Folder folder;
  const std::string config = test::product_config(8, R"("m": 16, "n": 16, "k": 16)");
  const std::string file =
      folder.write("a.json", config.substr(0, config.rfind('}')) +
                                 (section.empty() ? "" : R"(, "sweep": )" + section) + "}");
  const Catalogue catalogue = kernels::catalogue();
  const std::vector<config::Preset> machines = config::machine_presets();
  const sweep::Sweep sweep(file, axes, sets, catalogue, machines);
  sweep::PointIds ids("1");
  std::string text;
  for (const sweep::Point& point : sweep.points(ids)) {
    for (const Json& value : point.values) text += value.dump() + ",";
    text.back() = ' ';
    CHECK(sweep.config(point).machine.tiles > 0);
  }
  return text;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("the last group varies fastest") {
    CHECK(points(R"({"grid": {"machine.tiles": [1, 2], "workload.m": [3, 4]},
                     "zip": {"workload.n": [5, 6], "workload.k": [7, 8]}})") ==
          "1,3,5,7 1,3,6,8 1,4,5,7 1,4,6,8 2,3,5,7 2,3,6,8 2,4,5,7 2,4,6,8 ");
  }

  TEST_CASE("conditions over the resolved config leave points out") {
    CHECK(points(R"({"grid": {"machine.tiles": [1, 2, 4], "workload.m": [2, 4, 8, 16]},
                     "where": ["workload.m <= 4 * machine.tiles", "workload.m >= 4",
                               "machine.tile.contexts == 6"]})") == "1,4 2,4 2,8 4,4 4,8 4,16 ");
  }

  TEST_CASE("a condition may leave out what is no config") {
    CHECK(points(R"({"grid": {"machine.tiles": [0, 1, 2]}, "where": "machine.tiles > 0"})") ==
          "1 2 ");
  }

  TEST_CASE("an axis of presets takes the machine's place") {
    CHECK(points("", {"machine=bow,gc200", "machine.tiles=3,5"}) ==
          "\"bow\",3 \"bow\",5 \"gc200\",3 \"gc200\",5 ");
  }

  TEST_CASE("keys of the machine hold for each machine of an axis, whatever is named first") {
    constexpr const char* kThree = R"({"where": "machine.tiles == 3"})";
    CHECK(points(kThree, {"machine.tiles=3,5", "machine=bow,gc2"}) == "3,\"bow\" 3,\"gc2\" ");
    CHECK(points(kThree, {"machine=bow,gc2"}, {"machine.tiles=3"}) == "\"bow\" \"gc2\" ");
  }

  TEST_CASE("the parts of a sweep follow each other, each with axes of its own") {
    CHECK(points(R"([{"grid": {"workload.m": [2, 4]}, "where": "workload.m > 2"},
                     {"grid": {"workload.n": [5, 6], "workload.m": [7]}}])",
                 {"machine.tiles=1,2"}) == "4,1 4,2 5,7,1 5,7,2 6,7,1 6,7,2 ");
  }

  TEST_CASE("machines, their sizes and their presets vary alike") {
    CHECK(points(R"({"grid": {"machine": ["gc2", "bow"], "machine.tiles": [2, 4]},
                     "where": "machine.clock_ghz > 1.7"})") == "\"bow\",2 \"bow\",4 ");
    CHECK(points(R"({"grid": {"machine.extends": ["gc2", "bow"]},
                     "where": "machine.clock_ghz > 1.7 and machine.tiles == 8"})") == "\"bow\" ");
    CHECK(points(R"({"grid": {"machine.tiles": [4, null], "machine.tile.contexts": [3, 6]},
                     "where": "machine.tile.contexts < 6 and machine.tile.sram_kib == 624"})") ==
          "4,3 null,3 ");
  }
}
