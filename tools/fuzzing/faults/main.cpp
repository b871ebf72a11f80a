// tessera_faults PROGRAM BUILD [--count N] [--seed S] [--first I] [--only CASE] [--all yes]
// [--sources DIR]: plants N seeded faults, one at a time, runs small problems with the run's check,
// and prints the faults that change a result beyond rounding although the check passes. Without
// --sources the faults are in the tile code of PROGRAM, linked in BUILD/tile; with it they are in
// kernels/ and models/ under DIR, a tree that BUILD builds and that nobody else uses.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <unistd.h>

#include <fmt/format.h>

#include "tools/fuzzing/faults/runs.h"
#include "tools/fuzzing/faults/source_code.h"
#include "tools/fuzzing/faults/tile_code.h"

namespace tessera::faults {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string program, build, only, sources, all;
  std::uint64_t count = 100, seed = 1, first = 0;
};

/// Counts faults by verdict.
class Tally {
 public:
  explicit Tally(const Options& options) : options_(options) {}

  /// `where`: the case, the place and the change.
  void add(std::uint64_t number, const Judgement& judgement, const std::string& where) {
    ++counts_[static_cast<std::size_t>(judgement.verdict)];
    if (judgement.verdict != Verdict::survivor && options_.all.empty()) return;
    fmt::print("{}: --seed {} --first {} --count 1: {}{}{}\n", name_of(judgement.verdict),
               options_.seed, number, where, judgement.what.empty() ? "" : ": ", judgement.what);
    std::fflush(stdout);
  }
  /// Prints the counts; returns the number of survivors.
  [[nodiscard]] std::uint64_t print() const {
    for (int i = 0; i < kVerdicts; ++i)
      fmt::print("{}: {}\n", name_of(static_cast<Verdict>(i)),
                 counts_[static_cast<std::size_t>(i)]);
    return counts_[static_cast<std::size_t>(Verdict::survivor)];
  }

 private:
  const Options& options_;
  std::array<std::uint64_t, kVerdicts> counts_{};
};

std::uint64_t tile_faults(const Options& options, Runs& runs) {
  const std::vector<Case> all = cases(options.only);
  const std::string program = fuzz::read(options.program);
  const fs::path faulty = runs.work() / "tessera";
  std::map<std::string, std::vector<Site>> sites;
  Tally tally(options);
  for (std::uint64_t i = options.first; i < options.first + options.count; ++i) {
    fuzz::Choices choices(options.seed, i);
    const Case& of = choices.of(all);
    if (!sites.contains(of.name))
      sites[of.name] = executed_sites(runs, of, fs::path(options.build) / "tile");
    const Site& site = choices.of(sites[of.name]);
    const isa::Instruction instruction = changed(site.instruction, choices);
    fuzz::write(faulty, planted(program, site, instruction));
    fs::permissions(faulty, fs::perms::owner_all);
    tally.add(i, runs.judge(of, faulty), described(of, site, instruction));
  }
  return tally.print();
}

/// Writes a faulty source, and restores it when destroyed.
class Planted {
 public:
  explicit Planted(const SourceFault& fault) : file_(fault.file), text_(fuzz::read(fault.file)) {
    fuzz::write(file_, fault.text);
  }
  ~Planted() { fuzz::write(file_, text_); }
  Planted(const Planted&) = delete;
  Planted& operator=(const Planted&) = delete;

 private:
  fs::path file_;
  std::string text_;
};

/// The first case with a survivor; else the verdict of highest rank.
std::pair<Judgement, std::string> judged(const std::vector<Case>& all, Runs& runs,
                                         const std::string& faulty) {
  std::pair<Judgement, std::string> result{{Verdict::same, ""}, "no case"};
  constexpr std::array kOrder = {Verdict::same,    Verdict::other_inputs, Verdict::rounding,
                                 Verdict::stopped, Verdict::found,        Verdict::survivor};
  const auto rank = [&](Verdict verdict) {
    return std::ranges::find(kOrder, verdict) - kOrder.begin();
  };
  for (const Case& each : all) {
    const Judgement judgement = runs.judge(each, faulty);
    if (rank(judgement.verdict) > rank(result.first.verdict)) result = {judgement, each.name};
    if (judgement.verdict == Verdict::survivor) break;
  }
  return result;
}

/// The cases of the kernel whose folder holds the file; all cases for shared files.
std::vector<Case> own_cases(const std::vector<Case>& all, const fs::path& file) {
  std::vector<Case> own;
  std::ranges::copy_if(all, std::back_inserter(own), [&](const Case& each) {
    return file.string().find("/kernels/" + each.kernel + "/") != std::string::npos;
  });
  return own.empty() ? all : own;
}

std::uint64_t source_faults(const Options& options, Runs& runs) {
  const std::vector<Case> all = cases(options.only);
  const std::vector<fs::path> files = source_files(options.sources);
  const std::string build = fmt::format("ninja -C '{}' tessera >'{}' 2>&1", options.build,
                                        (runs.work() / "build.log").string());
  Tally tally(options);
  std::uint64_t uncompiled = 0;
  for (std::uint64_t i = options.first; i < options.first + options.count; ++i) {
    fuzz::Choices choices(options.seed, i);
    for (;;) {
      const SourceFault fault = source_fault(files, choices);
      const Planted planted(fault);
      if (std::system(build.c_str()) != 0) {
        ++uncompiled;
        continue;
      }
      const auto [judgement, name] =
          judged(own_cases(all, fault.file), runs, options.build + "/tessera");
      tally.add(i, judgement,
                fmt::format("{}:{}: {} -> {} ({})", fault.file.string(), fault.line, fault.before,
                            fault.after, name));
      break;
    }
  }
  fmt::print("drawn again, since they do not compile: {}\n", uncompiled);
  return tally.print();
}

Options parsed(const std::vector<std::string>& words) {
  Options options;
  if (words.size() < 2 || words.size() % 2 != 0)
    throw std::runtime_error("PROGRAM BUILD are required");
  options.program = fs::absolute(words[0]);
  options.build = fs::absolute(words[1]);
  const std::map<std::string, std::string*> texts = {
      {"--only", &options.only}, {"--sources", &options.sources}, {"--all", &options.all}};
  const std::map<std::string, std::uint64_t*> numbers = {
      {"--count", &options.count}, {"--seed", &options.seed}, {"--first", &options.first}};
  for (std::size_t i = 2; i < words.size(); i += 2) {
    const std::string& value = words[i + 1];
    const char* const end = value.data() + value.size();
    if (const auto text = texts.find(words[i]); text != texts.end())
      *text->second = value;
    else if (const auto number = numbers.find(words[i]);
             number == numbers.end() ||
             std::from_chars(value.data(), end, *number->second).ptr != end)
      throw std::runtime_error(words[i] +
                               ": allowed --count, --seed, --first, --only, --sources, "
                               "--all with a value");
  }
  return options;
}

std::uint64_t plant(const Options& options) {
  const fs::path work = fs::temp_directory_path() / fmt::format("tessera-faults-{}", ::getpid());
  fs::create_directories(work);
  const fs::path right = work / "right-program";
  fs::copy_file(options.program, right);
  Runs runs(right, work);
  if (cases(options.only).empty()) throw std::runtime_error("--only " + options.only + ": no case");
  const std::uint64_t survivors =
      options.sources.empty() ? tile_faults(options, runs) : source_faults(options, runs);
  fs::remove_all(work);
  return survivors;
}

}  // namespace
}  // namespace tessera::faults

int main(int argc, char** argv) {
  try {
    return tessera::faults::plant(tessera::faults::parsed({argv + 1, argv + argc})) == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "tessera_faults: {}\n", error.what());
    return 2;
  }
}
