#include <string>

#include <doctest/doctest.h>

#include "tests/cli/command.h"

using tessera::test::Answer;
using tessera::test::CommandFolder;
using tessera::test::Json;

/// Options for W of a sparse product.
namespace {

Json report_of(const CommandFolder& folder, const std::string& more) {
  folder.done("run a.json --out result " + more);
  return folder.json("result/report.json");
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("a null takes back what a file below gives") {
    const CommandFolder folder{
        {"w.mtx", "%%MatrixMarket matrix coordinate real general\n4 3 2\n1 1 1.0\n4 3 2.0\n"},
        {"a.json", R"({"machine": {"extends": "bow", "tiles": 2},
      "workload": {"kernel": "spmm_static", "m": 4096, "k": 4096, "n": 4, "density": 0.0625}})"}};
    const std::string with_file = "run a.json --out r --set workload.matrix=w.mtx";
    CHECK(folder.call(with_file).code == 2);
    const Answer answer = folder.done(
        with_file + " --set workload.m=null --set workload.k=null --set workload.density=null");
    CHECK(answer.out.starts_with("spmm_static 4x3 w.mtx"));
    // In a file the same.
    folder.write(
        "b.json",
        R"({"extends": "a.json", "workload": {"matrix": "w.mtx", "m": null, "k": null, "density": null}})");
    const Answer in_file = folder.call("check b.json");
    INFO(in_file.err);
    CHECK(in_file.out.starts_with("spmm_static 4x3 w.mtx"));
  }

  TEST_CASE("each of several patterns has its line in the report") {
    const CommandFolder folder{{"a.json", R"({"machine": {"extends": "gc200", "tiles": 12},
  "workload": {"kernel": "spmm_dynamic", "m": 64, "k": 96, "n": 5, "dtype": "f16", "block": 4}})"}};
    const Json report = report_of(folder, "--set workload.patterns=3");
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
