// tessera_fuzz PROGRAM SOURCE [--count N] [--seed S] [--first I] [--gib G] [--only KIND] [--keep
// DIR] [--all yes]: calls the program with N damaged, extreme or (for small runs) random inputs,
// each in its own folder and under limits, and keeps those it handles badly: a wrong result, a bug
// of ours, a signal, more than 40 s or 4 GiB, a refusal without a message, leftover files.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "inputs.h"

namespace tessera::fuzz {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string program, source, only, keep = "fuzz-findings", all;
  std::uint64_t count = 1000, seed = 1, first = 0;
  Limits limits;
};

/// Finds control characters, which affect terminals, or a text too long to read.
std::string unreadable(const Input& input, const std::string& error) {
  constexpr std::size_t kMost = 20'000;
  if (error.size() > kMost) return fmt::format("a message of {} bytes", error.size());
  const auto obeyed = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < ' ' && c != '\n' && c != '\t') || byte == 0x7f;
  };
  const bool any = std::ranges::any_of(error, obeyed);
  return any && input.arguments.front() != "exec" ? "a message with control characters" : "";
}

/// Returns what is wrong with the outcome; empty if nothing is.
std::string judged(const Options& options, const Outcome& outcome, const Input& input,
                   const fs::path& folder) {
  if (outcome.timed_out) return "it stands still";
  if (WIFSIGNALED(outcome.status)) return fmt::format("signal {}", WTERMSIG(outcome.status));
  const int code = WEXITSTATUS(outcome.status);
  const std::string error = read(folder.string() + ".err");
  if (error.find("a bug of ours") != std::string::npos) return "a bug of ours";
  if (input.arguments.front() == "exec") return "";  // the exit code is the program's own
  if (code == 1) return "a wrong result";
  const bool may_lack = (input.is_large && error.find("memory") != std::string::npos) ||
                        input.out != Stream::file || input.error != Stream::file;
  if (code == 5 && !may_lack)
    return fmt::format("it wants more than {} GiB or {} s", options.limits.gib,
                       options.limits.seconds);
  if (code != 0 && code != 2 && code != 3 && code != 5) return fmt::format("exit code {}", code);
  const bool tells = input.arguments.front() == "sweep";  // its summary names failed points
  const bool heard = input.error == Stream::file;
  if (code != 0 && error.empty() && !tells && heard) return "refused without a message";
  if (std::string what = unreadable(input, error); !what.empty()) return what;
  if (const std::string name = replaced(input, folder); !name.empty()) return "it replaced " + name;
  for (const char* status : {R"("status":"defect")", R"("status":"died")"})
    if (read(folder.string() + ".out").find(status) != std::string::npos) return status;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name.ends_with(".tmp") || name == "sweep.lock") return "it left " + name;
  }
  return "";
}

/// The shell redirection of a stream that is not a file.
std::string redirected(const std::string& sign, Stream stream) {
  if (stream == Stream::file) return "";
  return " " + sign + (stream == Stream::closed ? "&-" : "/dev/full");
}

/// The keys of a printed plan that a config may give; null: all of them.
const Json* pinned_keys(const Seeds& seeds, const std::string& kernel) {
  const auto found = seeds.kernels.find(kernel);
  if (found == seeds.kernels.end() || !found->second.contains("pins")) return nullptr;
  return &found->second.at("pins");
}

/// Repeats the run with the plan that it printed; returns what is wrong; empty if nothing is.
std::string pinned(const Options& options, const Seeds& seeds, const Input& input,
                   const fs::path& folder) {
  const auto report_of = [&](const char* run) {
    return Json::parse(read(folder / run / "report.json"), nullptr, false);
  };
  const Json first = report_of("r");
  if (first.is_discarded()) return "";  // the run did not succeed
  Input again = input;
  Json config = Json::parse(input.files.at("a.json"));
  const Json& workload = first["config"]["workload"];
  if (!workload.contains("plan")) return "";  // the kernel has no plan
  Json plan = first["plan"];
  if (const Json* keys = pinned_keys(seeds, workload["kernel"])) {
    Json some = Json::object();
    for (const Json& key : *keys) some[key.get<std::string>()] = plan[key.get<std::string>()];
    plan = some;
  }
  config["workload"]["plan"] = plan;
  // A plan belongs to a number of tiles; with the plan pinned, another number may be faster.
  if (workload.contains("used_tiles"))
    config["workload"]["used_tiles"] =
        first["workload"].value("used_tiles", first["config"]["machine"]["tiles"].get<int>());
  again.files["a.json"] = config.dump();
  lay(again, folder);
  if (call(options.program, options.limits, again, folder).status != 0)
    return "its plan is refused: " + read(folder.string() + ".err");
  const Json second = report_of("r");
  return first["time"]["cycles"] == second["time"]["cycles"] ? "" : "its plan takes other cycles";
}

std::map<std::string, std::string> files_in(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files[fs::relative(entry.path(), folder)] = read(entry.path());
  return files;
}

Json read_json(const fs::path& file) {
  return Json::parse(read(file), nullptr, true, /*ignore_comments=*/true);
}

/// Values that kernels declare for fuzzing, by kernel.
std::map<std::string, Json> read_kernels(const fs::path& folder) {
  std::map<std::string, Json> kernels;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const fs::path file = entry.path() / "points.json";
    if (fs::exists(file))
      kernels[entry.path().filename()] = read_json(file).value("fuzz", Json::object());
  }
  return kernels;
}

Seeds make_seeds(const Options& options, const fs::path& work) {
  Seeds seeds;
  seeds.kernels = read_kernels(fs::path(options.source) / "kernels");
  seeds.small = read_json(fs::path(options.source) / "tests/cli/small.json");
  std::set<fs::path> runs;
  for (const auto& entry : fs::directory_iterator(fs::path(options.source) / "configs/runs"))
    runs.insert(entry.path());
  for (const fs::path& run : runs) seeds.configs.push_back(read_json(run));
  const fs::path programs = fs::path(options.program).parent_path() / "tests/programs";
  for (const auto& entry : fs::directory_iterator(programs))
    seeds.programs.push_back(read(entry.path()));
  lay({{{"a.json", seeds.small.dump()}}, {}, ""}, work / "seed");
  call(options.program, options.limits, {{}, {"run", "a.json", "--out", "r"}, ""}, work / "seed");
  call(options.program, options.limits,
       {{}, {"sweep", "a.json", "machine.tiles=1..3", "--out", "s"}, ""}, work / "seed");
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
    const Outcome outcome = call(options.program, options.limits, input, folder);
    const int code = WIFEXITED(outcome.status) ? WEXITSTATUS(outcome.status) : -1;
    ++codes[code];
    constexpr std::array<std::string_view, 4> kPlanning = {"check", "run", "sweep", "eval"};
    const bool plans = std::ranges::count(kPlanning, input.arguments.front()) > 0;
    planned += plans && (code == 0 || code == 3) ? 1 : 0;
    std::string finding = judged(options, outcome, input, folder);
    if (finding.empty() && input.pins_plan) finding = pinned(options, seeds, input, folder);
    if (!options.all.empty()) {
      const std::string said = read(folder.string() + ".err");
      fmt::print("{}: exit code {}: {}\n", i, code, said.substr(0, said.find('\n')));
    }
    if (finding.empty()) continue;
    ++findings;
    const fs::path kept = fs::path(options.keep) / fmt::format("{}-{}", options.seed, i);
    lay(input, kept);
    write(kept / "stdin", input.standard_input);
    fmt::print("{}: {}: tessera {}{}{}\n", kept.string(), finding, fmt::join(input.arguments, " "),
               redirected(">", input.out), redirected("2>", input.error));
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
    const std::map<std::string, std::string*> texts = {
        {"--keep", &options.keep}, {"--only", &options.only}, {"--all", &options.all}};
    if (const auto found = texts.find(words[i]); found != texts.end()) {
      *found->second = text;
      continue;
    }
    std::uint64_t* into = words[i] == "--count"   ? &options.count
                          : words[i] == "--seed"  ? &options.seed
                          : words[i] == "--first" ? &options.first
                          : words[i] == "--gib"   ? &options.limits.gib
                                                  : nullptr;
    if (into == nullptr || std::from_chars(text.data(), text.data() + text.size(), *into).ptr !=
                               text.data() + text.size())
      throw std::runtime_error(
          words[i] +
          ": allowed --count, --seed, --first, --gib, --only, --keep, --all with a value");
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
