#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"

using tessera::config::Json;
using tessera::test::Answer;
using tessera::test::CommandFolder;
using tessera::test::parsed_json;

/// The plan that a run reports, given to the same run as its plan.
namespace {

constexpr const char* kProblems[] = {
    R"({"kernel": "gemm", "m": 40, "n": 24, "k": 70, "dtype": "f16"})",
    R"({"kernel": "gemm", "m": 7, "n": 90, "k": 130, "dtype": "f32", "layout": "natural"})",
    R"({"kernel": "spmm_static", "m": 64, "n": 9, "k": 48, "block": 4, "density": 0.2})",
    R"({"kernel": "spmm_static", "m": 30, "n": 20, "k": 17, "block": 1, "density": 0.1, "dtype": "f32"})",
    R"({"kernel": "spmm_dynamic", "m": 64, "n": 20, "k": 96, "block": 8, "density": 0.2})",
    R"({"kernel": "spmm_dynamic", "m": 64, "n": 14, "k": 64, "block": 4, "density": 0.1,
        "pass": "grad_values"})",
    // Fewer bands than asked for.
    R"({"kernel": "spmm_static", "m": 50, "n": 15, "k": 147, "block": 16, "density": 0.2,
        "dtype": "f32", "seed": 827})",
    // The published planner's pairs, at a tie.
    R"({"kernel": "spmm_dynamic", "m": 15, "n": 15, "k": 4, "block": 16, "density": 0.02,
        "pattern": "row_skewed", "patterns": 2})",
    R"({"kernel": "spmm_tilewise", "m": 40, "n": 33, "k": 90, "granularity": 8, "method": "tew"})",
    R"({"kernel": "spmm_tilewise", "m": 95, "n": 1, "k": 10, "method": "tew", "sparsity": 0.9,
        "dtype": "f32"})",
    R"({"kernel": "butterfly", "features": 128, "n": 20, "dtype": "f16"})",
    R"({"kernel": "butterfly", "features": 64, "n": 9, "dtype": "f32", "pass": "grad_twiddles"})",
    R"({"kernel": "fft", "points": 256, "rows": 4})",
    R"({"kernel": "pixelfly", "m": 48, "n": 20, "k": 64, "block": 4, "rank": 5})",
    R"({"kernel": "pixelfly", "m": 16, "n": 14, "k": 64, "block": 1, "rank": 5, "dtype": "f16",
        "pass": "grad_weights"})",
    R"({"kernel": "pixelfly", "m": 48, "n": 99, "k": 16, "block": 16, "rank": 16, "dtype": "f32",
        "pass": "grad_weights"})",
};
constexpr const char* kMachines[] = {R"({"extends": "bow", "tiles": 5})",
                                     R"({"extends": "wse2", "tiles": 16})",
                                     R"({"extends": "gc2", "tiles": 8})"};

std::vector<Json> answers(const CommandFolder& folder, const std::vector<Json>& points) {
  std::string lines;
  for (const Json& point : points) lines += point.dump() + "\n";
  const Answer answer = folder.call("eval --stdin", lines);
  REQUIRE(answer.code == 0);
  std::vector<Json> answers;
  std::istringstream text(answer.out);
  for (std::string line; std::getline(text, line);) answers.push_back(parsed_json(line));
  REQUIRE(answers.size() == points.size());
  return answers;
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("a plan as it is printed can be pinned, and gives the same cycles") {
    const CommandFolder folder;
    std::vector<Json> points;
    for (const char* machine : kMachines)
      for (const char* problem : kProblems)
        points.push_back({{"machine", parsed_json(machine)}, {"workload", parsed_json(problem)}});
    const std::vector<Json> planned = answers(folder, points);
    for (std::size_t i = 0; i < points.size(); ++i) {
      INFO(points[i].dump());
      REQUIRE(planned[i]["status"] == "done");
      points[i]["workload"]["plan"] = planned[i]["report"]["plan"];
    }
    const std::vector<Json> pinned = answers(folder, points);
    for (std::size_t i = 0; i < points.size(); ++i) {
      INFO(points[i].dump());
      CHECK(pinned[i]["error"] == planned[i]["error"]);
      CHECK(pinned[i]["report"]["time"]["cycles"] == planned[i]["report"]["time"]["cycles"]);
    }
  }

  TEST_CASE("what follows from a plan's cuts cannot be given otherwise") {
    const CommandFolder folder;
    folder.write("a.json",
                 fmt::format(R"({{"machine": {}, "workload": {}}})", kMachines[0], kProblems[4]));
    tessera::test::check_refused(
        folder, "run a.json --set workload.plan.bucket_blocks=1",
        {"workload.plan.bucket_blocks: found 1, allowed", "follows from the other keys"});
  }
}
