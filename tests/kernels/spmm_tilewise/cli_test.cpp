#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"

using namespace tessera::test;

/// Options of a tile-wise product.
namespace {

constexpr const char* kTilewise = R"({"machine": {"extends": "bow", "tiles": 8},
  "workload": {"kernel": "spmm_tilewise", "m": 40, "granularity": 8, "sparsity": 0.5}})";

/// A dense .npy file of bytes; row i of column j holds i + 1 where j is below `full`, else 1.
std::string npy_by_row(int rows, int columns, int full) {
  std::string bytes;
  for (int i = 0; i < rows * columns; ++i) {
    bytes += static_cast<char>(i % columns < full ? i / columns + 1 : 1);
  }
  return numpy_file("|i1", fmt::format("{}, {}", rows, columns), bytes);
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("a dense .npy is pruned; the report shows its size and how unequal its tiles are") {
    const CommandFolder folder{{"a.json", kTilewise}, {"w.npy", npy_by_row(20, 16, 8)}};
    const Answer answer = folder.done("run a.json --out result --set workload.matrix=w.npy");
    const auto report = folder.json("result/report.json");
    CHECK(report.at("config").at("workload").at("k") == 20);
    CHECK(report.at("config").at("workload").at("n") == 16);
    CHECK(report.at("check").at("passed") == true);
    // All rows of the first tile but the row of ones, which is the first of 21 equal ones; of the
    // others the first one.
    CHECK(report.at("work").at("useful_flops") == 2 * 40 * 20 * 8);
    const auto& facts = report.at("workload");
    CHECK(facts.at("kept_share") == 0.5);
    CHECK(facts.at("kept_rows").at("mean") == 10);
    CHECK(facts.at("kept_rows").at("max") == 20);
    CHECK(facts.at("kept_rows").at("max_over_mean") == 2);
    CHECK(facts.at("product_cycles").at("max_over_mean") >= 1);
    CHECK(answer.out.find("kept_share 0.5") != std::string::npos);
  }
}
