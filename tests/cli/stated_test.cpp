#include <cmath>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/cli/command.h"
#include "tests/kernels/points.h"

using namespace tessera;
using config::Json;
using test::CommandFolder;

/// What kernels state in points.json of runs as users see them: what is told, what is refused.
namespace {

/// A file of a stated shape: IDX, or .npy of bytes that count up to a modulus, of one f32
/// throughout, or of zeros of a type.
std::string numbers(const Json& of) {
  const auto shape = of.at("shape").get<std::vector<unsigned>>();
  const auto modulus = of.value("modulus", 0U);
  if (of.contains("idx")) return test::idx_file(shape, test::counting(shape, modulus));
  if (modulus > 0) return test::numpy_counting(shape, modulus);
  if (of.contains("type")) return test::numpy_zeros(of.at("type").get<std::string>(), shape);
  const Json& value = of.at("value");
  return test::numpy_filled(shape, value == "nan" ? std::nanf("") : value.get<float>());
}

std::vector<std::string> parts(const Json& message) {
  if (message.is_string()) return {message.get<std::string>()};
  return message.get<std::vector<std::string>>();
}

/// Writes a.json, the config that the point is set over, and the files beside it.
void write_files(const CommandFolder& folder, const test::Point& point) {
  folder.write("a.json", point.facts.at("base").dump());
  const Json files = point.facts.value("files", Json::object());
  for (const auto& [name, content] : files.items())
    folder.write(name, content.is_string() ? content.get<std::string>() : numbers(content));
}

/// The report of a point's run, which prints what it leaves out or warns of. With `before` such a
/// run has left its tensors in the folder `given`, and those of this run are told too.
Json reported(const test::Point& point) {
  CAPTURE(point.describe());
  const CommandFolder folder;
  write_files(folder, point);
  std::string run = "run a.json --out result";
  if (point.facts.contains("before")) {
    run += " --set report.tensors=all";
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
  for (const std::string& name : folder.names())
    if (name.starts_with("result/tensors/"))
      report["tensors"][name] = std::hash<std::string>()(folder.read(name));
  return report;
}

/// What stands at a path of a report, or all tensors whose names begin as `tensors/...`.
Json part_of(const Json& report, const std::string& path) {
  Json some = test::value_at(report, path);
  if (path.starts_with("tensors/"))
    for (const auto& each : report.at("tensors").items())
      if (each.key().starts_with("result/" + path)) some[each.key()] = each.value();
  REQUIRE(!some.is_null());
  return some;
}

/// Checks numbers of a report over those of another one, what is the same in both, what is not.
void check_compared(const Json& report, const Json& other, const Json& facts) {
  const Json ratios = facts.value("ratios", Json::object());
  for (const auto& each : ratios.items()) {
    CAPTURE(each.key());
    const auto number = [&](const Json& of) {
      return test::value_at(of, each.key()).get<double>();
    };
    const double ratio = number(report) / number(other);
    CHECK(ratio >= each.value()[0].get<double>());
    CHECK(ratio <= each.value()[1].get<double>());
  }
  for (const Json& path : facts.value("same", Json::array()))
    CHECK(part_of(report, path) == part_of(other, path));
  for (const Json& path : facts.value("differ", Json::array()))
    CHECK(part_of(report, path) != part_of(other, path));
}

/// Checks what is stated of a run.
void check_told(const test::Point& point) {
  CAPTURE(point.describe());
  const Json report = reported(point);
  test::check_report(report, point.facts.value("report", Json::object()));
  if (point.facts.contains("than"))
    check_compared(report, reported(test::with(point, point.facts.at("than"))), point.facts);
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("runs report what a kernel states, alone and beside other runs") {
    for (const test::Point& stated : test::points("told"))
      for (const test::Point& point : test::combinations(stated)) check_told(point);
  }

  TEST_CASE("saved inputs that are read back give the same result, in the same time") {
    for (test::Point point : test::points("given")) {
      Json others = Json::object(), given = Json::object();
      for (const auto& each : point.facts.at("inputs").items()) {
        others[each.key()] = nullptr;
        given[each.key()] = "given/" + each.value().get<std::string>() + ".npy";
      }
      point.facts["base"] = {{"machine", {{"extends", "bow"}, {"tiles", 8}}},
                             {"workload", {{"kernel", point.kernel}}}};
      point.facts["before"] = point.facts["than"] = others;
      const std::string result = point.facts.at("result");
      point.facts["same"] = {"time", "traffic", "tensors/" + result + ".npy"};
      check_told(test::with(point, given));
    }
  }

  TEST_CASE("every mistake that a kernel states is refused with its message") {
    for (const test::Point& point : test::points("refused")) {
      const CommandFolder folder;
      write_files(folder, point);
      test::check_refused(folder, "run a.json" + point.options(), parts(point.facts.at("message")));
    }
  }
}
