#include <csignal>
#include <string>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/cli/command.h"
#include "tests/sanitized.h"

using namespace tessera::test;

/// Exhausted host resources: exit code 5, never reported as a bug, never stored as done.
namespace {

constexpr int kHostLimit = 5;
/// The small config on all tiles of a gc200.
std::string whole() { return small_config(1472); }

/// A call under a ulimit of the shell.
std::string limited(const std::string& limit, const std::string& arguments) {
  return fmt::format("--version >.version && (ulimit {}; exec {} {})", limit, TESSERA_PROGRAM,
                     arguments);
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("too little memory, at whatever moment, is exit code 5 and leaves nothing" *
            doctest::skip(kSanitized)) {
    const CommandFolder folder{{"small.json", whole()}};
    // With less, the host's loader or the libraries' initialisation fail before the program starts.
    int least = 16;
    const auto loads = [&] {
      const int code = folder.call(limited(fmt::format("-v {}", least * 1024), "--version")).code;
      return code == 0 || code == kHostLimit;
    };
    while (!loads()) REQUIRE(++least < 64);
    for (int mib = least; mib < 900; mib += mib / 3) {
      CAPTURE(mib);
      check_refused(folder, limited(fmt::format("-v {}", mib * 1024), "run small.json --out r"),
                    {"the host "}, kHostLimit);
    }
  }

  TEST_CASE("a sweep tells points that the host starved, and runs them again" *
            doctest::skip(kSanitized)) {
    const CommandFolder folder{{"small.json", whole()}};
    const std::string sweep = "sweep small.json machine.tiles=1,1472 --out s --jobs 2";
    const Answer answer = folder.call(limited("-v 700000", sweep));
    CHECK(answer.code == kHostLimit);
    check_holds(answer.out, {"2 points, 2 run now: 1 done, 1 starved\n",
                             "  starved   machine.tiles=1472: machine.tiles: the host cannot map"});
    CHECK(holds(folder.read("s/results.csv"), ",starved,"));
    const Answer again = folder.done(sweep);
    CHECK(again.out.starts_with("small: 2 points, 1 run now: 2 done\n"));
    CHECK(folder.call(sweep).out.starts_with("small: 2 points, 0 run now: 2 done"));
  }

  TEST_CASE("points of which no result can be written are not done, and run again") {
    const CommandFolder folder{{"small.json", whole()}};
    const std::string sweep = "sweep small.json machine.tiles=1,2 --out s";
    const Answer answer = folder.call(limited("-f 1", sweep + " --quiet"));
    CHECK(answer.code == kHostLimit);
    CHECK(!holds(answer.err, "a bug of ours"));
    const Answer again = folder.done(sweep);
    CHECK(again.out.starts_with("small: 2 points, 2 run now: 2 done\n"));
    for (const std::string& name : folder.names()) CHECK(!name.ends_with(".tmp"));
  }

  TEST_CASE("a validation that the host starves is not a wrong result" *
            doctest::skip(kSanitized)) {
    const CommandFolder folder;
    const Answer answer = folder.call(limited("-v 700000", "validate stream --quick"));
    CHECK(answer.code == kHostLimit);
    CHECK(holds(answer.err, "the host cannot map"));
  }

  TEST_CASE("files that would grow past the host's limit are told") {
    const CommandFolder folder{{"small.json", whole()}};
    check_refused(folder, limited("-f 4", "run small.json --out r"),
                  {"cannot be written: File too large"}, kHostLimit);
    check_refused(folder, limited("-f 4", "run small.json --trace tiles --out r"),
                  {"cannot be written: File too large"}, kHostLimit);
  }

  TEST_CASE("a sweep that cannot write its lock leaves nothing") {
    const CommandFolder folder{{"small.json", whole()}};
    // Through a pipe: the file for the message could not be written, either.
    const Answer answer =
        folder.call(fmt::format("--version >.version && ((ulimit -f 0; exec {} sweep small.json "
                                "machine.tiles=1,2 --out s) 2>&1 | cat)",
                                TESSERA_PROGRAM));
    CHECK(holds(answer.out, "s/sweep.lock: cannot be written: File too large"));
    CHECK(!folder.has("s"));
  }

  TEST_CASE("closed or full standard streams never end a command otherwise than told") {
    const CommandFolder folder{{"small.json", whole()}};
    const std::string run = "run small.json --set machine.tiles=2 --out r";
    // In parentheses, since the test's own redirections follow.
    const auto code = [&](const std::string& command, const std::string& closed) {
      return folder
          .call(fmt::format("--version >.version && ({} {} {})", TESSERA_PROGRAM, command, closed))
          .code;
    };
    for (const char* closed : {">&-", ">/dev/full"}) {
      CAPTURE(closed);
      CHECK(code(run, closed) == kHostLimit);
      CHECK(code("list machines", closed) == kHostLimit);
      CHECK(code("list machines", std::string(closed) + " 2>&- <&-") == kHostLimit);
      CHECK(folder.json("r/report.json").contains("time"));  // file not on a closed stream's number
    }
    for (const char* closed : {"2>&-", "2>/dev/full"}) {
      CAPTURE(closed);
      CHECK(code("run none.json", closed) == 2);
      CHECK(code(run, closed) == 0);
    }
  }

  /// (UBSan opens files itself to inspect classes.)
  TEST_CASE("a host without open files is told" * doctest::skip(kSanitized)) {
    const CommandFolder folder{{"small.json", whole()}};
    const Answer files =
        folder.call(limited("-n 5", "sweep small.json machine.tiles=1..4 --out r"));
    CHECK(files.code == kHostLimit);
    CHECK(holds(files.err, "Too many open files"));
  }

  TEST_CASE("a plan that is being looked for ends at an interruption") {
    const CommandFolder folder;
    std::vector<std::string> plans = long_run({"--set", "workload.layout=natural"});
    plans.front() = "check";
    const int code = folder.interrupt(plans, SIGINT, [] { return ::usleep(50000) == 0; });
    CHECK((code == 130 || code == -1));  // -1: the signal came before its handler was installed
  }

  TEST_CASE("more time than the host gives is exit code 5") {
    const CommandFolder folder;
    check_refused(folder,
                  limited("-S -t 1", fmt::format("{}", fmt::join(long_run({"--out", "r"}), " "))),
                  {"no more processor time"}, kHostLimit);
  }
}
