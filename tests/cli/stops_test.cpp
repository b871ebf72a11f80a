#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"

using tessera::test::check_refused;
using tessera::test::CommandFolder;

/// Runs that end before their result: no progress, no room, interrupted.
namespace {

std::string run(const char* kernel, const std::string& more) {
  return fmt::format("run {}/configs/runs/{}.json {}", TESSERA_SOURCE, kernel, more);
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("a run past its limit ends with the state of every stuck tile") {
    const CommandFolder folder;
    const std::string tiles = " --set machine.tiles=3 ";
    check_refused(folder, run("stream", tiles + "--max-cycles 3000"),
                  {"tiles ran past the limit of 3000 cycles (--max-cycles)",
                   "tiles 0-2: ", "running at cycle", "pc 0x"},
                  3);
    check_refused(folder, run("stream", tiles + "--max-cycles 1"), {"limit of 1 cycles"}, 3);
    check_refused(folder, run("gemm", "--set workload.m=64 --set workload.n=64 --max-cycles 2000"),
                  {"limit of 2000 cycles"}, 3);
  }

  TEST_CASE("a program that does not fit is shown by tile and category") {
    const CommandFolder folder;
    const std::string large = "--set machine.tiles=2 --set workload.elements_per_worker=60000";
    check_refused(folder, run("stream", large),
                  {"code", "control", "exchange", "arguments", "tensors", "stack", "over by"});
  }

  TEST_CASE("a dense plan that cannot be carried out is refused with its key") {
    const CommandFolder folder;
    const std::string small =
        "--set workload.m=64 --set workload.n=64 --set workload.k=64 --set machine.tiles=8 ";
    check_refused(folder, run("gemm", small + "--set workload.plan.split_m=100"),
                  {"plan.split_m: found 100, allowed 1 to 64"});
    check_refused(
        folder,
        run("gemm", small + "--set workload.plan.split_m=3 " + "--set workload.plan.split_n=4"),
        {"12", "8"});
    check_refused(folder, run("gemm", small + "--set workload.plan.cuts=1000"), {"plan.cuts"});
    check_refused(folder, run("gemm", "--set machine.tiles=1"), {"does not fit 1 tiles"});
  }

  TEST_CASE("an interrupted run ends with 130 and leaves nothing") {
    const CommandFolder folder;
    const std::string command = fmt::format("timeout -s INT --preserve-status 0.5 {} {}",
                                            TESSERA_PROGRAM, run("gemm", "--out result"));
    check_refused(folder, "--version >.version && " + command, {}, 130);
  }
}
