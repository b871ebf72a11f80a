#pragma once

#include <cstdlib>
#include <filesystem>
#include <map>

#include "tests/refusal.h"
#include "tests/run/killed_sweep.h"

namespace tessera::test {

/// A command, and the commands that create its inputs.
struct KilledCommand {
  const char* name;
  std::vector<std::vector<std::string>> before;
  std::vector<std::string> arguments;
};

inline std::vector<KilledCommand> killed_commands() {
  const std::vector<std::string> sweep = {"sweep", "small.json", "machine.tiles=1..6",
                                          "--out", "s",          "--quiet"};
  const std::vector<std::string> run = {"run", "small.json", "--trace", "tiles", "--out", "r"};
  return {{"run", {}, run},
          {"sweep", {}, sweep},
          {"validate", {}, {"validate", "thread_rates", "--quick", "--out", "v", "--jobs", "2"}},
          {"plot", {sweep}, {"plot", "s", "--format", "svg", "png"}},
          {"report", {run}, {"report", "r"}}};
}

/// Contents of the folder's files by name. Files that describe the host, such as report.json, have
/// none: they must only exist.
inline std::map<std::string, std::string> contents(const CommandFolder& folder) {
  std::map<std::string, std::string> files;
  for (const std::string& name : folder.names()) {
    if (!std::filesystem::is_regular_file(folder.path() / name)) continue;
    const bool tells =
        name.ends_with("report.json") || name.ends_with("results.jsonl") || holds(name, "points/");
    files[name] = tells ? "" : folder.read(name);
  }
  return files;
}

/// True if a process of this host has the folder as its working directory.
inline bool is_used(const std::filesystem::path& folder) {
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
    const auto place = std::filesystem::read_symlink(entry.path() / "cwd", gone);
    if (!gone && place == folder) return true;
  }
  return false;
}

/// Runs the command undisturbed; then kills it `rounds` times at random moments and runs it again
/// to its end. The killed run may leave nothing behind, and all files must be equal to the
/// undisturbed run's.
inline void check_killed(const KilledCommand& command, std::uint64_t rounds) {
  namespace fs = std::filesystem;
  const std::string name = command.name;
  CAPTURE(name);
  const CommandFolder folder;
  const fs::path before = folder.path().string() + "-before";
  const std::string temporary = folder.path() / ".temporary";
  folder.write("small.json", with_kernel(R"({"machine": {"extends": "bow", "tiles": 64},
    "workload": {"kernel": "KERNEL", "elements_per_worker": 600}})"));
  fs::create_directory(temporary);
  ::setenv("TMPDIR", temporary.c_str(), 1);
  for (const auto& arguments : command.before) REQUIRE(wait_for(start(folder, arguments)) == 0);
  fs::copy(folder.path(), before, fs::copy_options::recursive);
  std::map<std::string, std::string> whole;
  double seconds = 0;
  std::uint64_t killed = 0;
  for (std::uint64_t round = 0; round <= rounds; ++round) {
    CAPTURE(round);
    fs::remove_all(folder.path());
    fs::copy(before, folder.path(), fs::copy_options::recursive);
    const Stopwatch watch;
    if (round > 0) {
      const pid_t process = start(folder, command.arguments);
      const double share = static_cast<double>(data::random_below(2, 0, round, 1000)) / 1000;
      ::usleep(static_cast<useconds_t>(1e6 * seconds * share));
      ::kill(process, SIGKILL);
      killed += WIFSIGNALED(wait_for(process)) ? 1 : 0;
    }
    CHECK(wait_for(start(folder, command.arguments)) == 0);
    if (round == 0) seconds = watch.seconds();
    for (int tries = 0; tries < 100 && is_used(folder.path()); ++tries) ::usleep(50'000);
    CHECK_FALSE(is_used(folder.path()));
    CHECK(fs::is_empty(temporary));
    const auto files = contents(folder);
    if (round == 0) whole = files;
    for (const auto& file : files) {
      CAPTURE(file.first);
      CHECK(whole.contains(file.first));
      CHECK((whole[file.first] == file.second));
    }
    CHECK(files.size() == whole.size());
  }
  ::unsetenv("TMPDIR");
  fs::remove_all(before);
  MESSAGE(fmt::format("{}: {} of {} killed before their end", name, killed, rounds));
}

}  // namespace tessera::test
