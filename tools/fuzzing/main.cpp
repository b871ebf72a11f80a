// tessera_fuzz PROGRAM SOURCE [--count N] [--seed S] [--first I] [--gib G] [--only KIND]
// [--keep DIR]: calls the program with N inputs made wrong, extreme or, of small runs, at random,
// each alone in a folder and under limits, and keeps those that it takes badly: a wrong result, a
// bug of ours, a signal, more than 20 s or 4 GB, a refusal without a message, something left
// behind.
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "inputs.h"

namespace tessera::fuzz {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string program, source, only, keep = "fuzz-findings";
  std::uint64_t count = 1000, seed = 1, first = 0;
  std::uint64_t gib = 4;  ///< of memory; 0: any, as sanitizers need
};

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

struct Outcome {
  int status = 0;
  double seconds = 0;
  bool timed_out = false;
};

constexpr rlim_t kMostSeconds = 20;   // of the processor
constexpr double kStandsStill = 300;  // on a host that may be busy

void limit(int resource, rlim_t most) {
  const rlimit both{most, most};
  ::setrlimit(resource, &both);
}

[[noreturn]] void become(const Options& options, const Input& input, const fs::path& folder) {
  constexpr rlim_t kGib = 1UL << 30;
  ::setpgid(0, 0);
  if (options.gib > 0) limit(RLIMIT_AS, options.gib * kGib);
  limit(RLIMIT_FSIZE, kGib);
  limit(RLIMIT_CORE, 0);
  const rlimit time{kMostSeconds, kMostSeconds + 2};
  ::setrlimit(RLIMIT_CPU, &time);
  if (::chdir(folder.c_str()) != 0) ::_exit(126);
  const std::string beside = folder.string();
  ::dup2(::open((beside + ".in").c_str(), O_RDONLY), STDIN_FILENO);
  ::dup2(::open((beside + ".out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
  ::dup2(::open((beside + ".err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
  std::vector<char*> words = {const_cast<char*>(options.program.c_str())};
  for (const std::string& each : input.arguments) words.push_back(const_cast<char*>(each.c_str()));
  words.push_back(nullptr);
  ::execv(options.program.c_str(), words.data());
  ::_exit(127);
}

/// The group ends with its first process.
Outcome call(const Options& options, const Input& input, const fs::path& folder) {
  write(folder.string() + ".in", input.standard_input);
  const auto begin = std::chrono::steady_clock::now();
  const pid_t process = ::fork();
  if (process == 0) become(options, input, folder);
  Outcome outcome;
  while (::waitpid(process, &outcome.status, WNOHANG) == 0) {
    constexpr useconds_t kPoll = 1000;
    ::usleep(kPoll);
    outcome.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (outcome.seconds < kStandsStill) continue;
    outcome.timed_out = true;
    ::kill(-process, SIGKILL);
  }
  return outcome;
}

/// What of it is wrong; empty: nothing.
std::string judged(const Options& options, const Outcome& outcome, const Input& input,
                   const fs::path& folder) {
  if (outcome.timed_out) return "it stands still";
  if (WIFSIGNALED(outcome.status)) return fmt::format("signal {}", WTERMSIG(outcome.status));
  const int code = WEXITSTATUS(outcome.status);
  const std::string error = read(folder.string() + ".err");
  if (error.find("a bug of ours") != std::string::npos) return "a bug of ours";
  if (input.arguments.front() == "exec") return "";  // the code is the program's
  if (code == 1) return "a wrong result";
  if (code == 5) return fmt::format("it wants more than {} GiB or {} s", options.gib, kMostSeconds);
  if (code != 0 && code != 2 && code != 3) return fmt::format("exit code {}", code);
  const bool tells = input.arguments.front() == "sweep";  // its summary names points that fail
  if (code != 0 && error.empty() && !tells) return "refused without a message";
  for (const char* status : {R"("status":"defect")", R"("status":"died")"})
    if (read(folder.string() + ".out").find(status) != std::string::npos) return status;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name.ends_with(".tmp") || name == "sweep.lock") return "it left " + name;
  }
  return "";
}

void lay(const Input& input, const fs::path& folder) {
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (const auto& [name, text] : input.files) write(folder / name, text);
}

std::map<std::string, std::string> files_in(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_regular_file()) files[entry.path().filename()] = read(entry.path());
  return files;
}

Seeds make_seeds(const Options& options, const fs::path& work) {
  Seeds seeds;
  std::set<fs::path> runs;
  for (const auto& entry : fs::directory_iterator(fs::path(options.source) / "configs/runs"))
    runs.insert(entry.path());
  for (const fs::path& run : runs)
    seeds.configs.push_back(Json::parse(read(run), nullptr, true, /*ignore_comments=*/true));
  const fs::path programs = fs::path(options.program).parent_path() / "tests/programs";
  for (const auto& entry : fs::directory_iterator(programs))
    seeds.programs.push_back(read(entry.path()));
  const std::string stream = R"({"machine": {"extends": "bow", "tiles": 3},
    "workload": {"kernel": "stream", "elements_per_worker": 60}})";
  lay({{{"a.json", stream}}, {}, ""}, work / "seed");
  call(options, {{}, {"run", "a.json", "--out", "r"}, ""}, work / "seed");
  call(options, {{}, {"sweep", "a.json", "machine.tiles=1..3", "--out", "s"}, ""}, work / "seed");
  seeds.run = files_in(work / "seed/r");
  seeds.sweep = files_in(work / "seed/s");
  if (seeds.run.empty() || seeds.sweep.empty() || seeds.programs.empty())
    throw std::runtime_error(options.program + ": no seeds: it does not run, or is not built");
  return seeds;
}

std::uint64_t fuzz(const Options& options) {
  const fs::path work = fs::temp_directory_path() / fmt::format("tessera-fuzz-{}", ::getpid());
  const Seeds seeds = make_seeds(options, work);
  std::map<int, std::uint64_t> codes;
  std::uint64_t findings = 0;
  std::uint64_t planned = 0;
  for (std::uint64_t i = options.first; i < options.first + options.count; ++i) {
    Choices choices(options.seed, i);
    const Input input = make_input(seeds, choices, options.only);
    const fs::path folder = work / "input";
    lay(input, folder);
    const Outcome outcome = call(options, input, folder);
    const int code = WIFEXITED(outcome.status) ? WEXITSTATUS(outcome.status) : -1;
    ++codes[code];
    constexpr std::array<std::string_view, 4> kPlanning = {"check", "run", "sweep", "eval"};
    const bool plans = std::count(kPlanning.begin(), kPlanning.end(), input.arguments.front()) > 0;
    planned += plans && (code == 0 || code == 3) ? 1 : 0;
    const std::string finding = judged(options, outcome, input, folder);
    if (finding.empty()) continue;
    ++findings;
    const fs::path kept = fs::path(options.keep) / fmt::format("{}-{}", options.seed, i);
    lay(input, kept);
    write(kept / "stdin", input.standard_input);
    fmt::print("{}: {}: tessera {}\n", kept.string(), finding, fmt::join(input.arguments, " "));
  }
  fs::remove_all(work);
  for (const auto& [code, times] : codes) fmt::print("exit code {}: {}\n", code, times);
  fmt::print("{} of {} inputs were planned, {} are findings\n", planned, options.count, findings);
  return findings;
}

Options parsed(const std::vector<std::string>& words) {
  Options options;
  if (words.size() < 2 || words.size() % 2 != 0)
    throw std::runtime_error("PROGRAM SOURCE are required");
  options.program = fs::absolute(words[0]);
  options.source = words[1];
  for (std::size_t i = 2; i < words.size(); i += 2) {
    const std::string& text = words[i + 1];
    if (words[i] == "--keep" || words[i] == "--only") {
      (words[i] == "--keep" ? options.keep : options.only) = text;
      continue;
    }
    std::uint64_t* into = words[i] == "--count"   ? &options.count
                          : words[i] == "--seed"  ? &options.seed
                          : words[i] == "--first" ? &options.first
                          : words[i] == "--gib"   ? &options.gib
                                                  : nullptr;
    if (into == nullptr || std::from_chars(text.data(), text.data() + text.size(), *into).ptr !=
                               text.data() + text.size())
      throw std::runtime_error(
          words[i] + ": allowed --count, --seed, --first, --gib, --only, --keep with a value");
  }
  return options;
}

}  // namespace
}  // namespace tessera::fuzz

int main(int argc, char** argv) {
  try {
    return tessera::fuzz::fuzz(tessera::fuzz::parsed({argv + 1, argv + argc})) == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "tessera_fuzz: {}\n", error.what());
    return 2;
  }
}
