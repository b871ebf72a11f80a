#include <algorithm>
#include <csignal>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/cli/command.h"

using tessera::test::CommandFolder;
using tessera::test::long_run;

/// A command that is ended by a signal leaves no partly written files.
namespace {

std::size_t files_ending(const CommandFolder& folder, const std::string& ending) {
  const std::set<std::string> names = folder.names();
  return static_cast<std::size_t>(std::count_if(
      names.begin(), names.end(), [&](const std::string& name) { return name.ends_with(ending); }));
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("a run that a signal ends while it writes traces leaves nothing, not even folders") {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
      CAPTURE(signal);
      const CommandFolder folder;
      const int code = folder.interrupt(long_run({"--trace", "tiles", "--out", "some/result"}),
                                        signal, [&] { return files_ending(folder, ".tmp") == 2; });
      CHECK(code == 130);
      CHECK(folder.names().empty());
    }
  }

  TEST_CASE("a folder that was there before stays, with what lies in it") {
    const CommandFolder folder;
    std::filesystem::create_directory(folder.path() / "result");
    const auto traced = [&] { return files_ending(folder, ".tmp") == 2; };
    const std::vector<std::string> run = long_run({"--trace", "phases", "--out", "result"});
    CHECK(folder.interrupt(run, SIGTERM, traced) == 130);
    CHECK(folder.names() == std::set<std::string>{"result"});
    folder.write("result/trace.vcd", "of an earlier run");
    CHECK(folder.interrupt(run, SIGINT, traced) == 130);
    CHECK(folder.names() == std::set<std::string>{"result", "result/trace.vcd"});
    CHECK(folder.read("result/trace.vcd") == "of an earlier run");
  }

  TEST_CASE("a run without a trace that a signal ends leaves nothing") {
    for (const char* const signal : {"INT", "TERM", "HUP"}) {
      const CommandFolder folder;
      const std::string command = fmt::format("timeout -s {} --preserve-status 0.5 {} {}", signal,
                                              TESSERA_PROGRAM, fmt::join(long_run(), " "));
      tessera::test::check_refused(folder, "--version >.version && " + command,
                                   {"interrupted: nothing half-written remains"}, 130);
    }
  }

  TEST_CASE("an interrupted sweep keeps its results and nothing else") {
    const std::string points = "workload.elements_per_worker=600..60000+600";
    for (const int signal : {SIGINT, SIGTERM}) {
      const CommandFolder folder;
      for (const std::size_t done : {3U, 9U, 20U}) {
        const int code =
            folder.interrupt({"sweep", tessera::test::small_file(), points, "--out", "s", "--jobs",
                              "2", "--set", "machine.tiles=64"},
                             signal, [&] { return files_ending(folder, ".json") >= done; });
        CHECK(code == 130);
        CHECK(files_ending(folder, ".tmp") == 0);
        CHECK(files_ending(folder, ".json") >= done);
        CHECK(files_ending(folder, ".json") < 100);
        const std::string csv = folder.read("s/results.csv");
        const auto rows = static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')) - 1;
        CHECK(rows == files_ending(folder, ".json"));
      }
    }
  }
}
