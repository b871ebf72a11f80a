#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/cli/saved.h"
#include "tests/kernels/points.h"

using namespace tessera;
using config::Json;
using test::CommandFolder;

/// Runs as users see them, from the kernels' points.json: reports, messages and refusals.
namespace {

std::vector<std::string> parts(const Json& message) {
  if (message.is_string()) return {message.get<std::string>()};
  return message.get<std::vector<std::string>>();
}

/// Writes a.json, the config that the point is set over, and its files.
void write_all(const CommandFolder& folder, const test::Point& point) {
  folder.write("a.json", point.facts.at("base").dump());
  test::write_files(folder, point);
}

/// Runs a point, checks that it prints what it dropped and its warnings, and returns its report.
/// With `before` such a run has first saved its tensors to the folder `given`; the report then has
/// hashes of this run's tensors. With `equations` saved tensors must satisfy them.
Json reported(const test::Point& point) {
  CAPTURE(point.describe());
  const CommandFolder folder;
  write_all(folder, point);
  const Json equations = point.facts.value("equations", Json::object());
  std::string run = "run a.json --out result";
  if (point.facts.contains("before") || !equations.empty()) run += " --set report.tensors=all";
  if (point.facts.contains("before")) {
    folder.done(run + test::with(point, point.facts.at("before")).options());
    std::filesystem::rename(folder.path() / "result/tensors", folder.path() / "given");
  }
  const std::string out = folder.done(run + point.options()).out;
  Json report = folder.json("result/report.json");
  std::vector<std::string> printed = parts(point.facts.value("says", Json::array()));
  for (const char* key : {"dropped", "warnings"})
    for (const Json& line : report.value("results", Json::object()).value(key, Json::array()))
      printed.push_back("\n  " + line.get<std::string>() + "\n");
  for (const std::string& part : printed) CHECK(test::holds(out, part));
  for (const auto& each : equations.items())
    CHECK(test::compare(folder, each.key(), each.value()) == "equal");
  for (const std::string& name : folder.names())
    if (name.starts_with("result/tensors/"))
      report["tensors"][name] = std::hash<std::string>()(folder.read(name));
  return report;
}

/// The point with its `inputs` read from the tensors of a preceding run with keys `saves`.
test::Point with_saved(test::Point point, Json saves, Json given) {
  for (const auto& each : point.facts.at("inputs").items()) {
    saves[each.key()] = nullptr;
    given[each.key()] = "given/" + each.value().get<std::string>() + ".npy";
  }
  point.facts["base"] = {{"machine", {{"extends", "bow"}, {"tiles", 8}}},
                         {"workload", {{"kernel", point.kernel}}}};
  point.facts["before"] = saves;
  return test::with(point, given);
}

/// Checks the report that a point states.
void check_told(const test::Point& point) {
  CAPTURE(point.describe());
  const Json report = reported(point);
  test::check_report(report, point.facts.value("report", Json::object()));
  if (point.facts.contains("than"))
    test::check_compared(report, reported(test::with(point, point.facts.at("than"))), point.facts);
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("runs report what a kernel states, alone and beside other runs") {
    for (const test::Point& stated : test::points("told"))
      for (const test::Point& point : test::combinations(stated)) check_told(point);
  }

  TEST_CASE("saved inputs that are read back give the same result, in the same time") {
    for (const test::Point& stated : test::points("given")) {
      test::Point point = with_saved(stated, {}, {});
      point.facts["than"] = point.facts["before"];
      point.facts["same"] = {"time", "traffic",
                             "tensors/" + point.facts.at("result").get<std::string>() + ".npy"};
      check_told(point);
    }
  }

  TEST_CASE("given values that the type does not have are rounded, and counted in the report") {
    for (const test::Point& stated : test::points("rounded")) {
      const Json single{{"dtype", "f32"}};
      test::Point point = with_saved(stated, single, single);
      point.facts["report"] = {{"workload.rounded", nullptr}};
      check_told(point);
      point = with_saved(stated, single, {{"dtype", "f16"}});
      const std::string key = point.facts.at("inputs").items().begin().key();
      point.facts["report"] = {
          {"workload.rounded." + key, {{"above", 200}, {"below", 257}}}};  // 256 values
      point.facts["says"] = "rounded {";
      check_told(point);
    }
  }

  TEST_CASE("every mistake that a kernel states is refused with its message") {
    for (const test::Point& point : test::points("refused")) {
      const CommandFolder folder;
      write_all(folder, point);
      for (const std::string& command : parts(point.facts.value("commands", Json("run"))))
        test::check_refused(folder, command + " a.json" + point.options(),
                            parts(point.facts.at("message")));
    }
  }
}
