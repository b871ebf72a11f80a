#pragma once

#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/base/stopwatch.h"
#include "sim/data/random.h"
#include "tests/cli/command.h"

namespace tessera::test {

/// A sweep of 40 points for each seed of a small matrix product.
inline std::vector<std::string> sweep_arguments(const CommandFolder& folder, int seeds = 2) {
  folder.write("product.json", product_config(16, R"("m": 64, "n": 64, "k": 64)"));
  return {"sweep",
          "product.json",
          "machine.tiles=4..16+3",
          "workload.n=8..64+8",
          fmt::format("workload.seed=1..{}", seeds),
          "--set",
          "workload.k=32",
          "--jobs",
          "2"};
}

/// Starts the program in the folder, silently, and returns its process.
inline pid_t start(const CommandFolder& folder, const std::vector<std::string>& arguments) {
  std::vector<char*> words = {const_cast<char*>(TESSERA_PROGRAM)};
  for (const std::string& each : arguments) words.push_back(const_cast<char*>(each.c_str()));
  words.push_back(nullptr);
  const pid_t process = ::fork();
  if (process == 0) {
    if (::chdir(folder.path().c_str()) != 0) ::_exit(126);
    const int nowhere = ::open("/dev/null", O_RDWR);
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
    ::execv(TESSERA_PROGRAM, words.data());
    ::_exit(127);
  }
  return process;
}

inline int wait_for(pid_t process) {
  int status = 0;
  ::waitpid(process, &status, 0);
  return status;
}

/// Runs a sweep undisturbed, and one in another folder with `rounds` processes killed at random
/// moments; compares the files they leave.
inline void check_killed_sweep(std::uint64_t rounds, int seeds = 2) {
  const CommandFolder folder;
  std::vector<std::string> arguments = sweep_arguments(folder, seeds);
  arguments.insert(arguments.end(), {"--out", "whole"});
  const Stopwatch watch;
  REQUIRE(wait_for(start(folder, arguments)) == 0);
  const double seconds = watch.seconds();
  arguments.back() = "killed";
  std::uint64_t killed = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const pid_t process = start(folder, arguments);
    // Together the runs have about half of the sweep's time, so that none finds it complete.
    const double share = static_cast<double>(data::random_below(1, 0, round, 1000)) / 1000;
    ::usleep(static_cast<useconds_t>(1e6 * seconds * share / static_cast<double>(rounds)));
    ::kill(process, SIGKILL);
    killed += WIFSIGNALED(wait_for(process)) ? 1 : 0;
  }
  CHECK(killed == rounds);
  CHECK(wait_for(start(folder, arguments)) == 0);
  for (const char* file : {"points.jsonl", "results.csv"}) {
    CHECK(!folder.read(fmt::format("whole/{}", file)).empty());
    CHECK(folder.read(fmt::format("whole/{}", file)) ==
          folder.read(fmt::format("killed/{}", file)));
  }
  for (const std::string& name : folder.names()) {
    CAPTURE(name);
    CHECK(!name.ends_with(".tmp"));
  }
}

}  // namespace tessera::test
