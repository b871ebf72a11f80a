#include <set>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"
#include "tests/sim/trace/perfetto_reader.h"
#include "tests/sim/trace/vcd_reader.h"

using namespace tessera::test;

/// Runs that end without a result: no progress, or no space.
namespace {

/// A run of more than 3000 cycles.
std::string run_small(const std::string& more) {
  return fmt::format("run {} --set workload.elements_per_worker=2000 {}", small_file(), more);
}

std::string product(const char* command, const std::string& more) {
  return fmt::format("{} {}/configs/runs/quickstart.json {}", command, TESSERA_SOURCE, more);
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("a run past its limit ends with the state of every stuck tile") {
    const CommandFolder folder;
    const std::string tiles = " --set machine.tiles=3 ";
    check_refused(folder, run_small(tiles + "--max-cycles 3000"),
                  {"tiles ran past the limit of 3000 cycles (--max-cycles)",
                   "tiles 0-2: ", "running at cycle", "pc 0x"},
                  3);
    check_refused(folder, run_small(tiles + "--max-cycles 1"), {"limit of 1 cycle ("}, 3);
    check_refused(folder,
                  product("run", "--set workload.m=64 --set workload.n=64 --max-cycles 2000"),
                  {"limit of 2000 cycles"}, 3);
  }

  TEST_CASE("a run past its limit keeps its trace up to there, which says that it stopped") {
    const CommandFolder folder;
    const Answer answer = folder.call(
        run_small("--set machine.tiles=3 --max-cycles 3000 --trace tiles --out result"));
    CHECK(answer.code == 3);
    CHECK(answer.out.empty());
    check_holds(answer.err, {"limit of 3000 cycles", "  trace     trace.pftrace, "});
    CHECK(folder.names() ==
          std::set<std::string>{"result", "result/trace.pftrace", "result/trace.vcd"});
    const auto trace = read_perfetto(folder.read("result/trace.pftrace"));
    REQUIRE(trace.instants.size() == 1);
    CHECK(trace.instants[0].starts_with("stopped: tiles ran past the limit of 3000 cycles"));
    const auto tile = trace.of("tiles/tile 2");
    REQUIRE(!tile.empty());
    CHECK(tile.back().name == "compute");
    const auto& arguments = tile.back().arguments;
    CHECK(arguments.at("cycle") + arguments.at("cycles") > 3000);
    const auto vcd = read_vcd(folder.read("result/trace.vcd"));
    CHECK(vcd.signals.at("machine.step").back().second == "stopped");
    CHECK(vcd.comments.back() == trace.instants[0]);
  }

  TEST_CASE("results that cannot be written are refused with the reason and leave nothing") {
    const CommandFolder folder;
    const std::string small = run_small("--set machine.tiles=1 --quiet ");
    check_refused(
        folder, small + "--out /proc/results",
        {"/proc/results: cannot be the folder of the results: /proc/", "cannot be written: "});
    // A limit on file sizes emulates a full disk: report.json is larger.
    const std::string limited = fmt::format("ulimit -f 4; exec {} {}", TESSERA_PROGRAM, small);
    check_refused(folder, fmt::format("--version >.version && ({} --out full)", limited),
                  {"full/report.json: cannot be written: File too large"}, 5);
  }

  TEST_CASE("every command reports output that cannot be printed") {
    const CommandFolder folder;
    const std::string one_tile = run_small("--set machine.tiles=1 --out .full");
    for (const std::string& command : {one_tile, std::string("schema"), std::string("--help")}) {
      // In parentheses, since the test's own redirection follows.
      const std::string full = fmt::format("({} {} >/dev/full)", TESSERA_PROGRAM, command);
      check_refused(folder, "--version >.version && " + full,
                    {"standard output: cannot be written"}, 5);
    }
  }
}
