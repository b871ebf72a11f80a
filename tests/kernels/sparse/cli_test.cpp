#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"

using tessera::test::Answer;
using tessera::test::CommandFolder;
using tessera::test::Json;
using tessera::test::numpy_counting;

/// Options for W of a sparse product.
namespace {

constexpr const char* kSeeded = R"({"machine": {"extends": "gc200", "tiles": 4},
  "workload": {"kernel": "spmm_static", "m": 12, "k": 9, "n": 5, "dtype": "f16"}})";
constexpr const char* kFile = R"({"machine": {"extends": "gc200", "tiles": 4},
  "workload": {"kernel": "spmm_static", "matrix": "a.mtx", "n": 5, "dtype": "f16"}})";
const std::string kMatrix =
    "%%MatrixMarket matrix coordinate real general\n12 9 2\n1 2 1\n12 9 -2\n";

Json report_of(const CommandFolder& folder, const std::string& more) {
  folder.done("run a.json --out result " + more);
  return folder.json("result/report.json");
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("the report's config shows the m and k of the matrix file") {
    const CommandFolder folder{{"a.json", kFile},
                               {"a.mtx", kMatrix},
                               {"a.smtx", "3, 4, 2\n0 1 1 2\n3 0\n"},
                               {"a.npy", numpy_counting({7, 8}, 256)}};
    const auto sizes = [&](const std::string& file) {
      const auto config = report_of(folder, "--set workload.matrix=" + file).at("config");
      return std::pair(config.at("workload").at("m").get<int>(),
                       config.at("workload").at("k").get<int>());
    };
    CHECK(sizes("a.mtx") == std::pair(12, 9));
    CHECK(sizes("a.smtx") == std::pair(3, 4));
    CHECK(sizes("a.npy") == std::pair(7, 8));
    CHECK(report_of(folder, "--set workload.m=12 --set workload.k=9").at("check").at("passed"));
  }

  TEST_CASE("a file without entries gives a Y of zeros; the report says that nothing is kept") {
    const CommandFolder folder{
        {"a.json", kFile}, {"none.mtx", "%%MatrixMarket matrix coordinate real general\n12 9 0\n"}};
    for (const std::string kernel : {"spmm_static", "spmm_dynamic"})
      for (const int block : {1, 4}) {
        const Json report = report_of(
            folder, fmt::format("--set workload.matrix=none.mtx --set workload.kernel={} --set "
                                "workload.block={}",
                                kernel, block));
        CHECK(report.at("check").at("passed"));
        CHECK(report.at("work").at("useful_flops") == 0);
        CHECK(report.at("workload").at("kept_share") == 0);
      }
  }

  TEST_CASE("the report says what share of W's blocks a rounded density keeps") {
    const CommandFolder folder{{"a.json", kSeeded}};
    for (const std::string kernel : {"spmm_static", "spmm_dynamic"}) {
      const Json report = report_of(folder,
                                    "--set workload.block=4 --set workload.density=0.15 "
                                    "--set workload.kernel=" +
                                        kernel);
      CHECK(report.at("workload").at("blocks") == 2);  // of 3 x 3, from 1.35
      CHECK(report.at("workload").at("kept_share") == doctest::Approx(2.0 / 9));
    }
  }

  TEST_CASE("a pruned .npy counts the elements of the blocks that are left") {
    const CommandFolder folder{{"a.json", kFile}, {"a.npy", numpy_counting({8, 8}, 256)}};
    const std::string file = "--set workload.matrix=a.npy ";
    CHECK(report_of(folder, file).at("work").at("useful_flops") == 2 * 63 * 5);
    CHECK(report_of(folder, file + "--set workload.prune=blocks --set workload.density=0.25")
              .at("work")
              .at("useful_flops") == 2 * 16 * 5);
  }

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
