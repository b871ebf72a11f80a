#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/cli/command.h"
#include "tests/kernels/points.h"

using tessera::test::Json;

/// Exact figures of a few runs. A change here is a change of the model: the commit that makes it
/// says why in its `Cycles:` line.
namespace {

/// The value at a path such as time.cycles.
const Json& at_path(const Json& report, std::string path) {
  for (char& letter : path) letter = letter == '.' ? '/' : letter;
  return report.at(Json::json_pointer("/" + path));
}

}  // namespace

TEST_SUITE("golden") {
  TEST_CASE("cycles, instructions, bytes and joules are exactly those of the last change") {
    for (const tessera::test::Point& point : tessera::test::points("golden")) {
      CAPTURE(point.describe());
      const tessera::test::CommandFolder folder;
      folder.done("run --out result " + point.arguments());
      const Json report = folder.json("result/report.json");
      for (const auto& each : point.facts.at("report").items()) {
        const std::string& path = each.key();
        const Json& expected = each.value();
        CAPTURE(path);
        if (expected.is_number_float())
          CHECK(at_path(report, path).get<double>() ==
                doctest::Approx(expected.get<double>()).scale(1e-30));
        else
          CHECK(at_path(report, path) == expected);
      }
    }
  }
}
