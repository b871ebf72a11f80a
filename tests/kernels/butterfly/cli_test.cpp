#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/cli/command.h"

using tessera::test::Answer;
using tessera::test::CommandFolder;
using tessera::test::numpy_filled;

/// Options of butterfly products.
namespace {

constexpr const char* kButterfly = R"({"machine": {"extends": "bow", "tiles": 8},
  "workload": {"kernel": "butterfly", "features": 4, "n": 6}})";

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("twiddles and columns from files are multiplied") {
    const CommandFolder folder;
    folder.write("a.json", kButterfly);
    folder.write("t.npy", numpy_filled({2, 2, 2, 2}, 0.5F));
    folder.write("x.npy", numpy_filled({4, 6}, 2.0F));
    folder.done("run a.json --out result --set workload.twiddles=t.npy --set workload.x=x.npy");
    const auto report = folder.json("result/report.json");
    CHECK(report.at("check").at("passed") == true);
    CHECK(report.at("check").at("max_error") == 0);
    CHECK(report.at("workload").at("parameters") == 16);
  }

  TEST_CASE("--fit passes over numbers of features that are no power of two") {
    const CommandFolder folder;
    const Answer answer = folder.done("check - --fit workload.features",
                                      R"({"machine": {"extends": "bow", "tiles": 1},
      "workload": {"kernel": "butterfly", "features": 64, "n": 16}})");
    const std::string key = "workload.features: ";
    REQUIRE(answer.out.starts_with(key));
    const unsigned long value = std::stoul(answer.out.substr(key.size()));
    CHECK(value >= 64);
    CHECK((value & (value - 1)) == 0);
  }

  TEST_CASE("a profile tells what part of a codelet's slots is floating point") {
    const CommandFolder folder;
    folder.write("a.json", R"({"machine": {"extends": "bow", "tiles": 1}, "workload":
      {"kernel": "butterfly", "features": 32, "n": 360, "plan": {"split_features": 1}}})");
    const Answer answer = folder.call("profile a.json --symbol butterfly_f32_free_1");
    REQUIRE_MESSAGE(answer.code == 0, answer.err);
    std::istringstream lines(answer.out);
    std::string line, cell;
    while (std::getline(lines, line) && line.find('%') == std::string::npos) {
    }
    std::getline(lines, line);
    std::istringstream cells(line);
    std::vector<std::string> row;
    while (cells >> cell) row.push_back(cell);
    REQUIRE(row.size() == 14);
    // Four of a pair's words for each of 180 words, 16 pairs and 5 factors, and the set-up.
    const double floating = std::stod(row[10]);
    CHECK(floating >= 4.0 * 180 * 16 * 5);
    CHECK(floating <= 1.1 * 4 * 180 * 16 * 5);
    CHECK(std::stod(row[11]) == doctest::Approx(100 * floating / std::stod(row[4])).epsilon(0.01));
  }
}
