#include <string>

#include <doctest/doctest.h>

#include "tests/cli/command.h"

using tessera::test::CommandFolder;
using tessera::test::numpy_counting;

/// Options of a pixelfly layer.
namespace {

constexpr const char* kPixelfly = R"({"machine": {"extends": "bow", "tiles": 8},
  "workload": {"kernel": "pixelfly", "m": 32, "k": 48, "n": 9, "block": 4, "rank": 3}})";

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("S, U and V come from files; the report counts parameters") {
    const CommandFolder folder;
    folder.write("a.json", kPixelfly);
    folder.write("s.npy", numpy_counting({32, 48}, 5));
    folder.write("u.npy", numpy_counting({32, 3}, 5));
    folder.write("v.npy", numpy_counting({48, 3}, 5));
    folder.done(
        "run a.json --out result --set workload.matrix=s.npy --set workload.u=u.npy "
        "--set workload.v=v.npy");
    const auto report = folder.json("result/report.json");
    CHECK(report.at("check").at("passed") == true);
    const int nonzeros = 32 * 48 * 4 / 5 + 1;  // every fifth of them is 0
    const auto parameters = report.at("workload").at("parameters").get<int>();
    CHECK(std::abs(parameters - (nonzeros + 3 * (32 + 48))) <= 1);
    CHECK(report.at("work").at("useful_flops") == 2 * parameters * 9);
  }
}
