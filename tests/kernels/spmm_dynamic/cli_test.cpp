#include <doctest/doctest.h>

#include "tests/cli/command.h"

using tessera::test::CommandFolder;

/// Options for room and patterns of spmm_dynamic.
namespace {

constexpr const char* kDynamic = R"({"machine": {"extends": "gc200", "tiles": 12},
  "workload": {"kernel": "spmm_dynamic", "m": 64, "k": 96, "n": 5, "dtype": "f16", "block": 4}})";

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("each of several patterns has its line in the report") {
    const CommandFolder folder{{"a.json", kDynamic}};
    folder.done("run a.json --out result --set workload.patterns=3");
    const auto report = folder.json("result/report.json");
    std::uint64_t cycles = 0;
    for (const auto& run : report.at("runs")) {
      CHECK(run.at("passed") == true);
      CHECK(run.at("nonzeros") == 384);
      CHECK(run.at("imbalance") >= 1.0);
      cycles += run.at("cycles").get<std::uint64_t>();
    }
    CHECK(report.at("runs").size() == 3);
    CHECK(report.at("time").at("cycles") == cycles);
    CHECK(report.at("work").at("useful_flops") == 3 * 2 * 384 * 5);
  }
}
