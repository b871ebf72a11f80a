#include "sim/command/sweep.h"

#include <csignal>
#include <map>

#include <doctest/doctest.h>

#include "kernels/catalogue.h"
#include "models/costs/measured_costs.h"
#include "models/fabric/fabric.h"
#include "sim/base/errors.h"
#include "sim/base/host_limit.h"
#include "tests/cli/command.h"

using namespace tessera;
using test::CommandFolder;

namespace {

report::Built build(const config::Config& config) {
  MeasuredCosts costs(config.machine);
  std::unique_ptr<Workload> workload = config.workload->plan(costs);
  program::Program program = workload->build();
  const auto exchanges = fabric::make_exchange_compiler(config.machine.fabric);
  program::Images images = program::compile(program, config.machine, *exchanges);
  return {std::move(workload), std::move(program), std::move(images), 0};
}

/// A fake simulation: the outcome depends only on the number of tiles.
report::Outcome outcome_by_tiles(const config::Config& config, const report::Built& /*built*/,
                                 const command::Observers& /*observers*/) {
  if (config.machine.tiles == 2) throw Defect("fabric: a copy was lost at cycle 7");
  if (config.machine.tiles == 3) throw UserError("code has no room\nthe table");
  if (config.machine.tiles == 4) throw NoProgress("tile 0 waits");
  if (config.machine.tiles == 5) throw std::runtime_error("out of everything");
  if (config.machine.tiles == 6) ::raise(SIGKILL);
  report::Outcome outcome;
  outcome.add(CheckResult{config.machine.tiles != 7, 0.5, 0.25, "full", "element 12 is 3"});
  return outcome;
}

/// Sweeps over these numbers of tiles; returns the exit code. The table is s/results.csv.
ExitCode sweep(const CommandFolder& folder, const std::string& tiles, bool strict = false) {
  folder.write("a.json", test::small_config(2));
  const command::Simulator simulator{kernels::catalogue(), config::machine_presets(), {}, {}, build,
                                     outcome_by_tiles};
  command::SweepRequest request;
  request.file = (folder.path() / "a.json").string();
  request.axes = {"machine.tiles=" + tiles};
  request.out = (folder.path() / "s").string();
  request.quiet = true;
  request.strict = strict;
  request.replace = true;
  return command::sweep(request, simulator);
}

/// By number of tiles: the end of each row of the table, "status,error".
std::map<std::string, std::string> ends_of(const CommandFolder& folder) {
  std::map<std::string, std::string> ends;
  std::istringstream lines(folder.read("s/results.csv"));
  std::string line;
  std::getline(lines, line);
  CHECK(line.ends_with(",seed,id,status,error"));
  while (std::getline(lines, line)) {
    std::size_t end = line.rfind(',');
    end = line.rfind(',', end - 1);
    ends[line.substr(0, line.find(','))] = line.substr(end + 1);
  }
  return ends;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a sweep ends with 0 though some points are impossible or stuck: they are rows") {
    const CommandFolder folder;
    CHECK(sweep(folder, "1,3,4") == ExitCode::done);
    auto ends = ends_of(folder);
    CHECK(ends["1"] == "done,");
    CHECK(ends["3"] == "failed,code has no room");  // the first line of its message
    CHECK(ends["4"] == "stuck,tile 0 waits");
  }

  TEST_CASE("a sweep of which no point is done, or by --strict one is not, does not end with 0") {
    const CommandFolder folder;
    CHECK(sweep(folder, "3") == ExitCode::user_error);
    CHECK(sweep(folder, "4") == ExitCode::no_progress);
    CHECK(sweep(folder, "3,4") == ExitCode::user_error);
    CHECK(sweep(folder, "1,4", true) == ExitCode::no_progress);
    CHECK(sweep(folder, "1,3,4", true) == ExitCode::user_error);
    CHECK(sweep(folder, "1,7,3", true) == ExitCode::check_failed);
    CHECK(sweep(folder, "1,8", true) == ExitCode::done);
  }

  TEST_CASE("a sweep ends with 1 when a result is wrong, and keeps it and the others") {
    const CommandFolder folder;
    CHECK(sweep(folder, "1,7,3") == ExitCode::check_failed);
    auto ends = ends_of(folder);
    CHECK(ends["1"] == "done,");
    CHECK(ends["7"] == "wrong,the result is wrong: element 12 is 3");
    CHECK(ends["3"] == "failed,code has no room");
    // No point is left to run; the exit code stays.
    CHECK(sweep(folder, "1,7,3") == ExitCode::check_failed);
  }

  TEST_CASE("a sweep ends with 4 when a point meets a bug of ours, even if one is wrong") {
    const CommandFolder folder;
    CHECK(sweep(folder, "1,2,7") == ExitCode::defect);
    CHECK(ends_of(folder)["2"] == "defect,fabric: a copy was lost at cycle 7");
    CHECK(sweep(folder, "5") == ExitCode::defect);
    CHECK(ends_of(folder)["5"] == "defect,out of everything");
  }

  TEST_CASE("a sweep ends with 5 when a point was killed: the host had not enough for it") {
    const CommandFolder folder;
    CHECK(sweep(folder, "6,1") == ExitCode::host_limit);
    auto ends = ends_of(folder);
    CHECK(ends["6"] == "starved,the simulation died: signal 9 (Killed)");
    CHECK(ends["1"] == "done,");
  }
}
