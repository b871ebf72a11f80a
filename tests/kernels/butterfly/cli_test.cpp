#include <cmath>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/cli/command.h"

using tessera::test::Answer;
using tessera::test::check_refused;
using tessera::test::CommandFolder;
using tessera::test::numpy_file;

/// Options of butterfly products.
namespace {

constexpr const char* kButterfly = R"({"machine": {"extends": "bow", "tiles": 8},
  "workload": {"kernel": "butterfly", "features": 4, "n": 6}})";

/// A .npy file of f32 of this shape, all elements alike.
std::string npy_of(const std::string& shape, std::size_t elements, float value) {
  std::string bytes;
  for (std::size_t i = 0; i < elements; ++i)
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);  // NOLINT(*-cast)
  return numpy_file("<f4", shape, bytes);
}

/// With JSON in quotes, for the shell.
std::string quoted(const std::string& option) {
  const std::size_t begin = option.find('{');
  if (begin == std::string::npos) return option;
  const std::size_t end = option.rfind('}') + 1;
  return option.substr(0, begin) + "'" + option.substr(begin, end - begin) + "'" +
         option.substr(end);
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("twiddles and columns from files are multiplied") {
    const CommandFolder folder;
    folder.write("a.json", kButterfly);
    folder.write("t.npy", npy_of("2, 2, 2, 2", 16, 0.5F));
    folder.write("x.npy", npy_of("4, 6", 24, 2.0F));
    const Answer answer =
        folder.call("run a.json --out result --set workload.twiddles=t.npy --set workload.x=x.npy");
    CAPTURE(answer.err);
    REQUIRE(answer.code == 0);
    const auto report = folder.json("result/report.json");
    CHECK(report.at("check").at("passed") == true);
    CHECK(report.at("check").at("max_error") == 0);
    CHECK(report.at("workload").at("parameters") == 16);
  }

  TEST_CASE("--fit passes over numbers of features that are no power of two") {
    const CommandFolder folder;
    const Answer answer = folder.call("check - --fit workload.features",
                                      R"({"machine": {"extends": "bow", "tiles": 1},
      "workload": {"kernel": "butterfly", "features": 64, "n": 16}})");
    INFO(answer.err);
    REQUIRE(answer.code == 0);
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

  TEST_CASE("mistakes about a butterfly product are refused") {
    const CommandFolder folder;
    folder.write("a.json", kButterfly);
    folder.write("nan.npy", npy_of("2, 2, 2, 2", 16, std::nanf("")));
    folder.write("small.npy", npy_of("2, 2, 2", 8, 1.0F));
    const std::vector<std::pair<const char*, const char*>> mistakes{
        {"features=1000", "workload.features: found 1000, allowed a power of two"},
        {"features=1", "workload.features: found 1, allowed an integer from 2"},
        {"dtype=f8", "workload.dtype: found \"f8\", allowed f16, f32, complex_f32"},
        {"twiddles=nan.npy", "nan.npy: element [0, 0, 0, 0]: found nan, allowed finite numbers"},
        {"twiddles=small.npy",
         "workload.twiddles: found small.npy of shape [2, 2, 2], allowed [2, 2, 2, 2]"},
        {"twiddles=small.npy --set workload.parameters=rotation",
         "workload.twiddles: found small.npy of shape [2, 2, 2], allowed [2, 2]"},
        {"x=small.npy", "workload.x: found small.npy of shape [2, 2, 2], allowed [4, 6]"},
        {"layout=natural", "workload.layout: found \"natural\", allowed planned, blocked"},
        {"plan={\"rounds\":2}",
         "workload.plan.rounds: found 2, allowed 1 but in layout blocked and passes forward and "
         "grad_input"},
        {"layout=blocked --set workload.plan={\"rounds\":4}",
         "workload.plan.rounds: found 4, allowed 1 to 3 (words of n columns over split_n)"},
        {"gradient=small.npy", "workload.gradient: is used by pass grad_twiddles only"},
        {"dtype=f16 --set workload.partials=f32",
         "workload.partials: found f32, allowed f16 with block 1"},
        {"block=4",
         "workload.block: found 4, allowed a power of two up to 2, half of the features"},
        {"block=2 --set workload.parameters=rotation",
         "workload.block: found 2, allowed 1 with rotations"},
        {"plan.split_features=3", "workload.plan.split_features: found 3, allowed a power of two"},
        {"plan.split_features=4", "allowed a power of two up to 2, the pairs of a factor"},
        {"plan.split_n=4", "workload.plan.split_n: found 4, allowed 1 to 3"},
        {"plan.outer_unit=8x8",
         "workload.plan.outer_unit: found 8x8, allowed auto but in blocks and pass grad_twiddles"},
        {"plan.workers_n=4", "workload.plan.workers_n: found 4, allowed divisors of 6"},
        {"plan={\"split_features\":2,\"split_n\":3} --set machine.tiles=4",
         "workload.plan: found 2 x 3 parts, allowed at most one for each of 4 tiles"},
        {"features=1048576 --set workload.n=1000",
         "no plan of butterfly for features=1048576 n=1000 fits 8 tiles"},
    };
    for (const auto& [option, message] : mistakes)
      check_refused(folder, "run a.json --set workload." + quoted(option), {message});
  }
}
