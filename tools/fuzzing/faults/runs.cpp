#include "tools/fuzzing/faults/runs.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>
#include <sys/wait.h>

#include <fmt/format.h>

#include "sim/data/numpy_file.h"

namespace tessera::faults {
namespace {

namespace fs = std::filesystem;

constexpr fuzz::Limits kLimits{4, 10};

/// Two runs with different roundings differ by less than this times u sqrt(depth), in units of the
/// larger of an element and the tensor's root mean square. A sum of `depth` terms that grows like a
/// random walk collects u sqrt(depth / 2) of its own size (each addition rounds the partial sum);
/// the largest of some 10^5 such errors is 4.5 of them, in both runs.
constexpr double kSpread = 8;

double bound(const Case& of) {
  return kSpread * std::sqrt(of.depth) * std::ldexp(1.0, of.half ? -11 : -24);
}

/// All numbers of a table; other words count as 0.
std::vector<double> numbers(const std::string& text) {
  std::vector<double> all;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    std::istringstream lines(word);
    for (std::string line; std::getline(lines, line);) {
      char* end = nullptr;
      const double number = std::strtod(line.c_str(), &end);
      all.push_back(end == line.c_str() + line.size() ? number : 0);
    }
  }
  return all;
}

/// Sorts spikes and carriers, whose order depends on the plan, which a fault may change through
/// costs; clears the meaningless words after them.
void settle_lists(data::NumpyArray& lists) {
  constexpr std::ptrdiff_t kHeader = 2;
  const std::size_t words = lists.shape.back();
  for (std::size_t at = 0; at < lists.values.size(); at += words) {
    const auto list = lists.values.begin() + static_cast<std::ptrdiff_t>(at);
    const auto length = static_cast<double>(words) - kHeader;
    const auto ids = static_cast<std::ptrdiff_t>(std::clamp(list[1], 0.0, length));
    const auto spikes = static_cast<std::ptrdiff_t>(std::clamp(list[0], 0.0, list[1]));
    std::sort(list + kHeader, list + kHeader + std::min(spikes, ids));
    std::sort(list + kHeader + std::min(spikes, ids), list + kHeader + ids);
    std::fill(list + kHeader + ids, list + static_cast<std::ptrdiff_t>(words), 0.0);
  }
}

std::vector<double> values(const fs::path& file) {
  if (file.extension() != ".npy") return numbers(fuzz::read(file));
  data::NumpyArray array = data::read_numpy(file);
  if (file.stem().string().starts_with("spikes_")) settle_lists(array);
  return std::move(array.values);
}

/// Describes the first element at which two files differ by more than `most`; empty if none.
std::string apart(const fs::path& left, const fs::path& right, double most) {
  const std::vector<double> wanted = values(left), found = values(right);
  const std::string name = left.filename();
  if (wanted.size() != found.size()) return name + ": another size";
  double squares = 0;
  for (const double each : wanted) squares += std::isfinite(each) ? each * each : 0;
  const double rms =
      std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, wanted.size())));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double allowed = most * std::max(rms, std::abs(wanted[i]));
    const bool alike = found[i] == wanted[i] || (std::isnan(found[i]) && std::isnan(wanted[i]));
    if (alike || std::abs(found[i] - wanted[i]) <= allowed) continue;
    return fmt::format("{} [{}]: {} instead of {}, {:.3g} of what roundings change", name, i,
                       found[i], wanted[i], std::abs(found[i] - wanted[i]) / allowed);
  }
  return "";
}

/// Files computed by a run: tensors, and networks' tables.
std::vector<fs::path> files_of(const fs::path& results) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(results / "tensors"))
    files.push_back(fs::path("tensors") / entry.path().filename());
  for (const char* table : {"loss.csv", "raster.csv"})
    if (fs::exists(results / table)) files.emplace_back(table);
  std::ranges::sort(files);
  return files;
}

/// Names of the tensors that `tessera check` calls inputs, and of untrained weights.
std::set<std::string> inputs_of(const Case& of, const std::string& checked) {
  std::set<std::string> names;
  std::istringstream lines(checked);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find(" [")));
    std::string name;
    while (words >> name) continue;  // the first line begins with a heading
    if (line.ends_with(" input") || (!of.trains && line.ends_with(" weights"))) names.insert(name);
  }
  return names;
}

}  // namespace

std::string name_of(Verdict verdict) {
  constexpr const char* kNames[kVerdicts] = {"found by the check", "stopped",      "same bytes",
                                             "within rounding",    "other inputs", "SURVIVED"};
  return kNames[static_cast<int>(verdict)];
}

fuzz::Outcome run(const std::string& program, const Case& of, std::vector<std::string> arguments,
                  const fs::path& folder) {
  const fuzz::Input input{{{"a.json", of.config.dump(1)}}, std::move(arguments), ""};
  fuzz::lay(input, folder);
  return fuzz::call(program, kLimits, input, folder);
}

const Runs::Right& Runs::right(const Case& of) {
  const auto known = right_.find(of.name);
  if (known != right_.end()) return known->second;
  const fs::path folder = work_ / "right" / of.name;
  const auto fail = [&](const fuzz::Outcome& outcome) {
    if (outcome.status != 0)
      throw std::runtime_error(of.name + ": " + fuzz::read(folder.string() + ".err") +
                               fuzz::read(folder.string() + ".out"));
  };
  fs::create_directories(folder);
  fail(run(program_, of, {"check", "a.json"}, folder));
  const std::string checked = fuzz::read(folder.string() + ".out");
  fail(run(program_, of, {"run", "a.json", "--out", "r"}, folder));
  return right_[of.name] = {folder / "r", inputs_of(of, checked)};
}

Judgement Runs::judge(const Case& of, const std::string& faulty) {
  const Right& wanted = right(of);
  const fs::path folder = work_ / "faulty";
  const fuzz::Outcome outcome = run(faulty, of, {"run", "a.json", "--out", "r"}, folder);
  const bool exits = WIFEXITED(outcome.status) && !outcome.timed_out;
  if (exits && WEXITSTATUS(outcome.status) == 1) return {Verdict::found, ""};
  if (!exits || WEXITSTATUS(outcome.status) != 0) return {Verdict::stopped, ""};
  const std::vector<fs::path> files = files_of(wanted.folder);
  if (files_of(folder / "r") != files) return {Verdict::survivor, "other tensors"};
  Judgement judgement{Verdict::same, ""};
  for (const fs::path& file : files) {
    if (fuzz::read(wanted.folder / file) == fuzz::read(folder / "r" / file)) continue;
    if (wanted.inputs.contains(file.stem())) return {Verdict::other_inputs, ""};
    if (judgement.verdict == Verdict::survivor) continue;
    const std::string what = apart(wanted.folder / file, folder / "r" / file, bound(of));
    judgement = {what.empty() ? Verdict::rounding : Verdict::survivor, what};
  }
  return judgement;
}

}  // namespace tessera::faults
