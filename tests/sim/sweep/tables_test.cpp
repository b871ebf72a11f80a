#include "sim/sweep/tables.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "kernels/catalogue.h"
#include "sim/config/json_text.h"
#include "tests/cli/command.h"

using namespace tessera;
using config::Json;

namespace {

Json report_of(const std::string& plan) {
  return {{"tessera", {{"version", "1"}}},
          {"config", {{"x", 1}}},
          {"plan", config::parse_json(plan, "test")},
          {"prediction", {{"cycles", 9}}},
          {"time", {{"cycles", 10}, {"seconds", 0.1}}},
          {"energy", {{"joules", nullptr}, {"by_part", Json::object()}}},
          {"largest", config::parse_json(R"([{"step": 1}])", "test")},
          {"host", {{"seconds", 3}}}};
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("cells are the report's numbers by dotted path, plan and prediction last") {
    std::string text;
    for (const auto& [name, cell] :
         sweep::cells_of(report_of(R"({"split": [2, 3], "kind": "a"})"))) {
      text += fmt::format("{}={} ", name, cell);
    }
    CHECK(text ==
          "time.cycles=10 time.seconds=0.1 energy.joules= plan.split=[2,3] plan.kind=a "
          "prediction.cycles=9 ");
  }

  TEST_CASE("cells with commas, quotes and line ends are quoted") {
    CHECK(sweep::csv_cell("plain text") == "plain text");
    CHECK(sweep::csv_cell("a,b") == "\"a,b\"");
    CHECK(sweep::csv_cell("a \"b\"") == "\"a \"\"b\"\"\"");
    for (const char* formula : {"=1+1", "=", "+cmd|' /C calc'!A0", "-2+3", "-", "@SUM(A1)"}) {
      CHECK(sweep::csv_cell(formula) == fmt::format("\"{}\"", formula));
      CHECK(sweep::cells_of_line(sweep::csv_cell(formula)) == std::vector<std::string>{formula});
    }
    for (const char* number : {"-1", "+2.5", "-3e-07", "-inf", "2", "a=b"})
      CHECK(sweep::csv_cell(number) == number);
    CHECK(sweep::csv_cell("a\nb") == "\"a\nb\"");
  }

  TEST_CASE("rows stand in the points' order, failures with their message") {
    const test::Folder folder;
    folder.write(
        "a.json",
        test::with_kernel(R"({"machine": {"extends": "bow"}, "workload": {"kernel": "KERNEL"}})"));
    const std::vector<std::string> axes = {"machine.tiles=1..4", "workload.dtype=f16"};
    const Catalogue catalogue = kernels::catalogue();
    const std::vector<config::Preset> machines = config::machine_presets();
    const sweep::Sweep sweep(folder.file("a.json"), axes, {}, catalogue, machines);
    sweep::PointIds ids("1");
    const std::vector<sweep::Point> points = sweep.points(ids);
    REQUIRE(points.size() == 4);
    const sweep::Store store(folder.path());
    store.open();
    store.put(points[3].id, {"done", "", 1, report_of(R"({"b": 2})")});
    store.put(points[0].id, {"failed", "too \"large\":\n a table", 1, nullptr});
    store.put(points[1].id, {"wrong", "the result is wrong", 1, report_of(R"({"a": 1})")});
    sweep::write_results(folder.path(), sweep, points, store);
    CHECK(folder.read("results.csv") ==
          fmt::format(
              "machine.tiles,workload.dtype,time.cycles,time.seconds,energy.joules,plan.a,plan.b,"
              "prediction.cycles,seed,id,status,error\n"
              "1,f16,,,,,,,1,{},failed,\"too \"\"large\"\":\"\n"
              "2,f16,10,0.1,,1,,9,1,{},wrong,the result is wrong\n"
              "4,f16,10,0.1,,,2,9,1,{},done,\n",
              points[0].id, points[1].id, points[3].id));
    const std::string lines = folder.read("results.jsonl");
    const Json first = config::parse_json(lines.substr(0, lines.find('\n')), "test");
    CHECK(first["axes"] ==
          config::parse_json(R"({"machine.tiles": 1, "workload.dtype": "f16"})", "test"));
    CHECK(first["error"] == "too \"large\":\n a table");
  }
}
