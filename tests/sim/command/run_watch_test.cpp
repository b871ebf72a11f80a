#include "sim/command/run_watch.h"

#include <cstdlib>

#include <doctest/doctest.h>

#include "tests/cli/command.h"

using namespace tessera;
using test::check_holds;
using Phase = RunProgress::Phase;

TEST_SUITE("cli") {
  TEST_CASE("a run says its phase, the share that is done, and how long the rest takes so") {
    CHECK(command::run_text(Phase::building, 0, 0, 0) == "planning and building");
    CHECK(command::run_text(Phase::loading, 0, 100, 0) == "loading");
    CHECK(command::run_text(Phase::running, 0, 1000, 0.1) == "running");
    CHECK(command::run_text(Phase::running, 250, 1000, 2) == "running: about 25 %, about 6 s left");
    CHECK(command::run_text(Phase::running, 5, 0, 2) ==
          "running: 2 s so far");  // nothing is predicted
    CHECK(command::run_text(Phase::checking, 900, 1000, 3) == "checking: 3 s so far");
    // Longer than predicted: still below 100 %.
    CHECK(command::run_text(Phase::running, 5000, 1000, 9) ==
          "running: about 99 %, about 0 s left");
  }

  TEST_CASE("on a terminal a run shows its phases, percent and checking; elsewhere nothing") {
    if (std::system("command -v script > /dev/null 2>&1") != 0) {
      MESSAGE("skipped: script (util-linux) is not installed");
      return;
    }
    const test::CommandFolder folder{
        {"a.json",
         test::product_config(256, R"("m": 1536, "n": 1536, "k": 1536, "dtype": "f32")")}};
    const std::string call = std::string(TESSERA_PROGRAM) +
                             " run a.json --out r --set run.check=full --set run.threads=1";
    const std::string shown =
        "cd " + folder.path().string() + " && script -qefc '" + call + "' typescript > /dev/null";
    REQUIRE(std::system(shown.c_str()) == 0);
    const std::string text = folder.read("typescript");
    check_holds(text, {"planning and building", "running: ", " left", "checking"});
    CHECK(folder.call("run a.json --out r --set run.check=off").err.empty());
  }
}
