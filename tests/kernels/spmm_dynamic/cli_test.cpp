#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"

using tessera::test::check_refused;
using tessera::test::CommandFolder;

/// Options for room and patterns of spmm_dynamic.
namespace {

constexpr const char* kDynamic = R"({"machine": {"extends": "gc200", "tiles": 12},
  "workload": {"kernel": "spmm_dynamic", "m": 64, "k": 96, "n": 5, "dtype": "f16", "block": 4}})";

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("a pattern that the buckets are not for is refused with its size") {
    const CommandFolder folder;
    folder.write("a.json", kDynamic);
    check_refused(
        folder, "run a.json --set workload.max_nonzeros=32",
        {"workload.max_nonzeros: pattern 0 holds 384 nonzeros in blocks of 4 x 4", "allowed 32"});
    check_refused(folder, "run a.json --set workload.max_density=0.01",
                  {"workload.max_density: pattern 0 holds 384 nonzeros", "allowed 64"});
  }

  TEST_CASE("keys of spmm_dynamic that contradict each other are refused") {
    const CommandFolder folder;
    folder.write("a.json", kDynamic);
    folder.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n64 96 1\n1 2 1\n");
    check_refused(folder,
                  "run a.json --set workload.max_nonzeros=3200 --set workload.max_density=0.5",
                  {"workload.max_nonzeros: found beside max_density"});
    check_refused(folder, "run a.json --set workload.matrix=a.mtx --set workload.patterns=2",
                  {"workload.patterns: found 2, allowed 1 with a matrix file"});
    for (const char* other : {"block=1", "pass=grad_values"}) {
      check_refused(
          folder, fmt::format("run a.json --set workload.partials=f16 --set workload.{}", other),
          {"workload.partials: found f16, allowed f32 with block 1 and with pass grad_values"});
    }
    check_refused(folder, "run a.json --set workload.plan.x=13",
                  {"workload.plan.x: found 13, allowed 0 to 12"});
    check_refused(folder, "run a.json --set workload.plan.x=4 --set workload.plan.y=4",
                  {"workload.plan.y: found 4, allowed 0 to 3"});
    check_refused(folder, "run a.json --set workload.plan.x=4 --set workload.plan.z=4",
                  {"workload.plan.z: found 4, allowed 0 to 3"});
  }

  TEST_CASE("a product that no grid has room for is refused") {
    const CommandFolder folder;
    folder.write("a.json", kDynamic);
    check_refused(folder, "run a.json --set workload.k=4000 --set workload.n=2000",
                  {"no plan of spmm_dynamic fits 12 tiles of 624 KiB"});
  }

  TEST_CASE("each of several patterns has its line in the report") {
    const CommandFolder folder;
    folder.write("a.json", kDynamic);
    REQUIRE(folder.call("run a.json --out result --set workload.patterns=3").code == 0);
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

  TEST_CASE("what follows from a plan's cuts cannot be given otherwise") {
    const CommandFolder folder;
    folder.write("a.json", R"({"machine": {"extends": "bow", "tiles": 5}, "workload":
      {"kernel": "spmm_dynamic", "m": 64, "n": 20, "k": 96, "block": 8, "density": 0.2}})");
    check_refused(folder, "run a.json --set workload.plan.bucket_blocks=1",
                  {"workload.plan.bucket_blocks: found 1, allowed", "follows from the other keys"});
  }
}
