#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"

using tessera::test::Answer;
using tessera::test::check_refused;
using tessera::test::CommandFolder;
using tessera::test::Json;
using tessera::test::numpy_file;

/// Options for W of a sparse product.
namespace {

constexpr const char* kSeeded = R"({"machine": {"extends": "gc200", "tiles": 4},
  "workload": {"kernel": "spmm_static", "m": 12, "k": 9, "n": 5, "dtype": "f16"}})";
constexpr const char* kFile = R"({"machine": {"extends": "gc200", "tiles": 4},
  "workload": {"kernel": "spmm_static", "matrix": "a.mtx", "n": 5, "dtype": "f16"}})";
const std::string kMatrix =
    "%%MatrixMarket matrix coordinate real general\n12 9 2\n1 2 1\n12 9 -2\n";

/// A dense .npy file of so many rows and columns with elements row * columns + column.
std::string npy_counting(int rows, int columns) {
  std::string bytes;
  for (int i = 0; i < rows * columns; ++i) bytes += static_cast<char>(i);
  return numpy_file("|i1", fmt::format("{}, {}", rows, columns), bytes);
}

Json report_of(const CommandFolder& folder, const std::string& more) {
  const Answer answer = folder.call("run a.json --out result " + more);
  CAPTURE(answer.err);
  REQUIRE(answer.code == 0);
  return folder.json("result/report.json");
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("the report's config shows the m and k of the matrix file") {
    const CommandFolder folder;
    folder.write("a.json", kFile);
    folder.write("a.mtx", kMatrix);
    folder.write("a.smtx", "3, 4, 2\n0 1 1 2\n3 0\n");
    folder.write("a.npy", npy_counting(7, 8));
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

  TEST_CASE("sizes that contradict the matrix file are refused") {
    const CommandFolder folder;
    folder.write("a.json", kFile);
    folder.write("a.mtx", kMatrix);
    check_refused(folder, "run a.json --set workload.m=13",
                  {"workload.m: found 13, allowed 12 (or no m): the rows of a.mtx"});
    check_refused(folder, "run a.json --set workload.k=4096",
                  {"workload.k: found 4096, allowed 9 (or no k): the columns of a.mtx"});
  }

  TEST_CASE("a file without entries gives a Y of zeros; the report says that nothing is kept") {
    const CommandFolder folder;
    folder.write("a.json", kFile);
    folder.write("none.mtx", "%%MatrixMarket matrix coordinate real general\n12 9 0\n");
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
    const CommandFolder folder;
    folder.write("a.json", kSeeded);
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
    const CommandFolder folder;
    folder.write("a.json", kFile);
    folder.write("a.npy", npy_counting(8, 8));
    const std::string file = "--set workload.matrix=a.npy ";
    CHECK(report_of(folder, file).at("work").at("useful_flops") == 2 * 63 * 5);
    CHECK(report_of(folder, file + "--set workload.prune=blocks --set workload.density=0.25")
              .at("work")
              .at("useful_flops") == 2 * 16 * 5);
  }

  TEST_CASE("matrix files of other kinds and malformed ones are refused") {
    const CommandFolder folder;
    folder.write("a.json", kFile);
    folder.write("a.mtx", kMatrix);
    folder.write("a.txt", kMatrix);
    folder.write("bad.smtx", "2, 3, 2\n0 1 2\n1 3\n");
    folder.write("none.smtx", "0, 3, 0\n0\n\n");
    folder.write("bad.npy", "no array");
    check_refused(folder, "run a.json --set workload.matrix=a.txt",
                  {"--set workload.matrix=a.txt: workload.matrix: found a.txt, allowed a .mtx, "
                   ".smtx or .npy file"});
    check_refused(folder, "run a.json --set workload.matrix=bad.smtx",
                  {"bad.smtx:3: column: found 3, allowed 0 to 2"});
    check_refused(folder, "run a.json --set workload.matrix=none.smtx",
                  {"none.smtx: found a matrix of 0 x 3, allowed from 1 x 1"});
    check_refused(folder, "run a.json --set workload.matrix=bad.npy", {"bad.npy: not a .npy file"});
  }

  TEST_CASE("keys of other patterns and impossible values are refused") {
    const CommandFolder folder;
    folder.write("a.json", kSeeded);
    folder.write("a.mtx", kMatrix);
    const std::vector<std::pair<const char*, const char*>> mistakes{
        {"pattern=unifrom", "did you mean uniform?"},
        {"block=2", "workload.block: found 2, allowed 1, 4, 8, 16"},
        {"density=1.5", "workload.density: found 1.5, allowed a number from 1e-15 to 1"},
        {"density=0", "workload.density: found 0, allowed a number from 1e-15 to 1"},
        {"pattern=rmat --set workload.density=0", "workload.density: found 0, allowed a number"},
        {"kernel=spmm_dynamic --set workload.density=0", "workload.density: found 0, allowed"},
        {"pattern=n_of_m --set workload.keep=0", "workload.keep: found 0, allowed an integer"},
        {"pattern=banded --set workload.density=0.3",
         "workload.density: found 0.3, which nothing reads as workload.pattern stands"},
        {"matrix=a.mtx --set workload.density=0.3",
         "workload.density: found 0.3, which nothing reads as workload.matrix stands"},
        {"skew=2", "workload.skew: is used by pattern row_skewed only, found pattern uniform"},
        {"group=2", "workload.group: is used by pattern n_of_m only"},
        {"bandwidth=2", "workload.bandwidth: is used by pattern banded only"},
        {"granularity=2", "workload.granularity: is used by pattern tile_wise only"},
        {"prune=blocks", "workload.prune: found blocks, allowed none without a matrix file"},
        {"pattern=rmat", "workload.k: found 9, allowed 12 (m): pattern rmat is square"},
        {"pattern=poisson_2d", "workload.k: found 9, allowed 12 (m): pattern poisson_2d is square"},
        {"factors=2", "workload.factors: is used by pattern butterfly only"},
        {"pattern=butterfly", "workload.butterfly_size: found 12 x 9, allowed an m and k that 2"},
        {"pattern=butterfly --set workload.k=20 --set workload.butterfly_size=3",
         "workload.butterfly_size: found 3, allowed powers of two from 2 to 4, which divide m "
         "(12)"},
        {"pattern=butterfly --set workload.k=20 --set workload.butterfly_size=8",
         "workload.butterfly_size: found 8, allowed powers of two from 2 to 4"},
        {"pattern=butterfly --set workload.k=20 --set workload.factors=3",
         "workload.factors: found 3, allowed 0 (all) to 2: log2 of butterfly_size 4"},
        {"pattern=butterfly --set workload.k=20 --set workload.block=16",
         "workload.block: found 16, allowed up to 12: W is 12 x 20"},
        {"pattern=n_of_m --set workload.keep=5", "workload.keep: found 5, allowed 1 to 4 (group)"},
    };
    for (const auto& [option, message] : mistakes) {
      check_refused(folder, std::string("run a.json --set workload.") + option, {message});
    }
    folder.write("a.json", kFile);
    check_refused(folder, "run a.json --set workload.bandwidth=2",
                  {"workload.bandwidth: is used by pattern banded only, found a matrix file"});
  }

  TEST_CASE("a W too large for the host is refused at once, with its size") {
    const CommandFolder folder;
    folder.write("a.json", kSeeded);
    check_refused(folder,
                  "run a.json --set workload.m=16777216 --set workload.k=16777216 --set "
                  "workload.density=0.5",
                  {"140737488355328 elements, allowed up to 536870912"});
  }

  TEST_CASE("a null takes back what a file below gives") {
    const CommandFolder folder;
    folder.write("w.mtx",
                 "%%MatrixMarket matrix coordinate real general\n4 3 2\n1 1 1.0\n4 3 2.0\n");
    folder.write("a.json", R"({"machine": {"extends": "bow", "tiles": 2},
      "workload": {"kernel": "spmm_static", "m": 4096, "k": 4096, "n": 4, "density": 0.0625}})");
    const std::string with_file = "run a.json --out r --set workload.matrix=w.mtx";
    CHECK(folder.call(with_file).code == 2);
    const Answer answer = folder.call(
        with_file + " --set workload.m=null --set workload.k=null --set workload.density=null");
    INFO(answer.err);
    CHECK(answer.code == 0);
    CHECK(answer.out.starts_with("spmm_static 4x3 w.mtx"));
    // In a file the same.
    folder.write(
        "b.json",
        R"({"extends": "a.json", "workload": {"matrix": "w.mtx", "m": null, "k": null, "density": null}})");
    const Answer in_file = folder.call("check b.json");
    INFO(in_file.err);
    CHECK(in_file.out.starts_with("spmm_static 4x3 w.mtx"));
  }

  TEST_CASE("a matrix file that does not exist, and cuts that no work list can name") {
    const CommandFolder folder;
    folder.write(
        "a.json",
        R"({"machine": "bow", "workload": {"kernel": "spmm_static", "matrix": "no.mtx"}})");
    check_refused(folder, "run a.json",
                  {"a.json: workload.matrix: found \"no.mtx\", allowed a file that exists"});
    folder.write("b.json", R"({"machine": {"extends": "bow", "tiles": 16},
      "workload": {"kernel": "spmm_static", "m": 16, "k": 1024, "n": 260, "density": 1, "block": 1,
                   "dtype": "f16", "partials": "f16", "plan": {"parts": 1, "bands": 1}}})");
    check_refused(folder, "run b.json", {"1 parts and 1 bands", "more than 65536 words of X"});
  }
}
