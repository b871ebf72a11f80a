#include <sstream>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"
#include "tests/kernels/points.h"

using namespace tessera::test;

namespace {

/// The sum of a column of the CSV.
std::uint64_t sum(const std::string& csv, const std::string& column) {
  std::istringstream lines(csv);
  std::string line, cell;
  std::getline(lines, line);
  std::istringstream heads(line);
  std::size_t from_end = 0;  // counted from the end, since texts in front may contain commas
  for (bool found = false; std::getline(heads, cell, ',');) {
    found = found || cell == column;
    if (found) ++from_end;
  }
  REQUIRE(from_end > 0);
  std::uint64_t sum = 0;
  while (std::getline(lines, line)) {
    std::size_t at = line.size();
    for (std::size_t i = 0; i < from_end; ++i) at = line.rfind(',', at - 1);
    sum += std::stoull(line.substr(at + 1));
  }
  return sum;
}

/// Cycles of worker contexts in report.json, except empty ones.
std::uint64_t busy(const CommandFolder& folder) {
  const auto report = folder.json("out/report.json");
  std::uint64_t cycles = 0;
  for (const auto& [what, count] : report["stalls"].items())
    if (what != "empty" && what != "codelets") cycles += count.get<std::uint64_t>();
  return cycles;
}

std::string bare_program(const std::string& name) {
  return fmt::format("{}/{}.elf", TESSERA_BARE_PROGRAMS, name);
}

constexpr const char* kOnMachine = R"({"machine": {"extends": "MACHINE", "tiles": 3},
  "workload": {"kernel": "KERNEL", "elements_per_worker": 60, "dtype": "i32"},
  "run": {"check_races": false}})";

std::string small_on(const std::string& machine) {
  std::string config = with_kernel(kOnMachine);
  return config.replace(config.find("MACHINE"), 7, machine);
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("a profile of a config has every cycle of its workers, on any number of threads") {
    for (const std::string machine : {"bow", "upmem", "hammerblade"}) {
      INFO(machine);
      const CommandFolder folder{{"a.json", small_on(machine)}};
      const Answer run = folder.done("run a.json --out out");
      const Answer one = folder.done("profile a.json --set run.threads=1 --out p.csv");
      CHECK(sum(folder.read("p.csv"), "cycles") == busy(folder));
      CHECK(one.out == folder.call("profile a.json --set run.threads=3").out);
      CHECK(holds(one.out, with_kernel("KERNEL")));
    }
  }

  TEST_CASE("a profile has what is measured of every kernel, and nothing beside") {
    for (const Point& point : small_points()) {
      INFO(point.describe());
      const CommandFolder folder;
      const std::string config = point.arguments() + " --set machine.tiles=4";
      folder.done("run " + config + " --timing --out out");
      folder.done("profile " + config + " --out p.csv");
      CHECK(sum(folder.read("p.csv"), "cycles") == busy(folder));
    }
  }

  TEST_CASE("a profile of a program lists its instructions, or the dearest") {
    const CommandFolder folder;
    const std::string program = bare_program("hello");
    const Answer all = folder.done("profile --out p.csv " + program);
    CHECK(all.out.find("hello\n") == 0);
    check_holds(all.out, {"_start:", ": ecall"});
    const std::string said = fmt::format("{} cycles", sum(folder.read("p.csv"), "cycles"));
    CHECK(holds(all.out, said));
    const Answer dearest = folder.call("profile --top 1 " + program);
    CHECK(!holds(dearest.out, "_start:"));
    CHECK(holds(dearest.out, "_start+0x"));
  }

  TEST_CASE("a bare program's exit code is the command's, and stdout what it writes alone") {
    const CommandFolder folder;
    const Answer three = folder.call("exec " + bare_program("exit_three"));
    CHECK(three.code == 3);
    CHECK(three.out.empty());
    CHECK(holds(three.err, "the program's own exit code 3, 18 cycles, 3 slots, 3 instructions"));
    const Answer hello = folder.done("exec " + bare_program("hello"));
    CHECK(hello.out == "hello\n");
    CHECK(holds(hello.err, "exit code 0, "));
  }

  TEST_CASE("a symbol that was not executed is refused, naming those that were") {
    const CommandFolder folder{{"a.json", small_on("bow")}};
    const Answer symbol = folder.call("profile a.json --symbol streem_copy_i32");
    CHECK(symbol.code == 2);
    CHECK(holds(symbol.err, "--symbol: found streem_copy_i32, executed were "));
  }
}
