#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/base/counted.h"
#include "sim/report/analysis.h"
#include "sim/report/report.h"
#include "sim/report/units.h"

namespace tessera::report {
using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kPhases = 20;

Json parts_json(const Parts& parts) {
  return {{"compute", parts.compute}, {"exchange", parts.exchange}, {"sync", parts.sync},
          {"link", parts.link},       {"host", parts.host},         {"wait", parts.wait}};
}

std::string whole_lines(const RunFolder& run, const Phase& whole) {
  const double total = whole.parts.total();
  std::string text = fmt::format("{}: {} cycles in {}, {} bound\n ", title(run.report),
                                 grouped(static_cast<std::uint64_t>(total)),
                                 counted(whole.supersteps, "superstep"), name_of(whole.bound));
  const Json parts = parts_json(whole.parts);
  for (const auto& [part, cycles] : parts.items()) {
    if (cycles > 0) text += fmt::format(" {} {:.1f} %,", part, 100 * cycles.get<double>() / total);
  }
  return text + fmt::format(" imbalance {:.2f}\n", whole.imbalance());
}

/// A heading and its rows. Each column is as wide as its widest text; columns numbered in `left`
/// are left-aligned, the others right-aligned.
std::string table(const std::vector<std::vector<std::string>>& rows,
                  std::initializer_list<std::size_t> left) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const std::vector<std::string>& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text = "\n";
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += std::ranges::find(left, i) != left.end() ? fmt::format("  {:<{}}", row[i], widths[i])
                                                       : fmt::format("  {:>{}}", row[i], widths[i]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string count_of(double value) { return grouped(static_cast<std::uint64_t>(value)); }
std::string share_of(double part, double all) { return fmt::format("{:.1f}", 100 * part / all); }

std::vector<std::string> phase_row(const Phase& phase, double total) {
  const double cycles = phase.parts.total();
  if (phase.supersteps == 0)  // host transfers involve no tile
    return {phase.name,
            count_of(cycles),
            share_of(cycles, total),
            "-",
            std::string(name_of(phase.bound)),
            "-",
            "-",
            "-"};
  return {phase.name,
          count_of(cycles),
          share_of(cycles, total),
          fmt::format("{}", phase.supersteps),
          std::string(name_of(phase.bound)),
          fmt::format("{:.2f}", phase.imbalance()),
          fmt::format("{}", phase.critical_tile),
          share_of(phase.critical_cycles, cycles)};
}

std::vector<std::string> step_row(const RunFolder& run, std::size_t row, double total) {
  const auto value = [&](std::string_view name) { return run.steps.at(name).values[row]; };
  const double mean = value("mean_compute_cycles");
  return {run.steps.at("name").word(row),
          count_of(value("cycles")),
          share_of(value("cycles"), total),
          fmt::format("{}", row),
          std::string(name_of(bound_of_step(run, row))),
          fmt::format("{:.2f}", mean > 0 ? value("most_compute_cycles") / mean : 1.0),
          fmt::format("{}", value("last_tile"))};
}

/// The stages, longest first: cycles of the tile that computes most, and the busiest stream kind.
std::string stage_lines(const RunFolder& run, double total) {
  std::vector<std::pair<double, std::vector<std::string>>> lines;
  for (const auto& [name, stage] : run.report.at("stages").items()) {
    const auto cycles = stage.at("cycles").get<double>();
    std::pair<std::uint64_t, std::string> busiest{0, "-"};
    for (const auto& [stream, carried] : stage.at("streams").items())
      busiest = std::max(busiest, {carried.at("cycles").get<std::uint64_t>(), stream});
    lines.push_back({cycles,
                     {name, count_of(cycles), share_of(cycles, total),
                      grouped(stage.at("compute_cycles").get<std::uint64_t>()),
                      grouped(stage.at("wait_cycles").get<std::uint64_t>()), busiest.second,
                      grouped(busiest.first)}});
  }
  std::ranges::stable_sort(lines, std::ranges::greater(),
                           [](const auto& line) { return line.first; });
  std::vector<std::vector<std::string>> rows = {
      {"stage", "cycles", "%", "compute", "waiting", "busiest stream", "busy"}};
  for (std::size_t i = 0; i < std::min(kPhases, lines.size()); ++i) rows.push_back(lines[i].second);
  std::string text = table(rows, {0, 5});
  if (lines.size() > kPhases)
    text += fmt::format("  and {} shorter ones\n", lines.size() - kPhases);
  return text;
}

/// The codelets by cycles of worker contexts, most first.
std::string codelet_lines(const Json& report) {
  if (!report.contains("stalls")) return "";
  struct Codelet {
    std::string name;
    double cycles = 0, issuing = 0;
  };
  std::vector<Codelet> codelets;
  double total = 0;
  for (const Json& each : report.at("stalls").at("codelets")) {
    Codelet codelet{each.at("codelet").get<std::string>()};
    for (const auto& [what, cycles] : each.items()) {
      if (!cycles.is_number()) continue;
      codelet.cycles += cycles.get<double>();
      if (what == "issued" || what == "paired") codelet.issuing += cycles.get<double>();
    }
    total += codelet.cycles;
    if (codelet.cycles > 0) codelets.push_back(std::move(codelet));
  }
  if (codelets.empty()) return "";
  std::ranges::stable_sort(codelets, std::ranges::greater(), &Codelet::cycles);
  std::vector<std::vector<std::string>> rows = {{"codelet", "context cycles", "%", "issuing %"}};
  constexpr std::size_t kMost = 12;
  for (std::size_t i = 0; i < std::min(kMost, codelets.size()); ++i) {
    const Codelet& each = codelets[i];
    rows.push_back({each.name, count_of(each.cycles), share_of(each.cycles, total),
                    share_of(each.issuing, each.cycles)});
  }
  std::string text = table(rows, {0});
  if (codelets.size() > kMost) text += fmt::format("  and {} others\n", codelets.size() - kMost);
  return text;
}

Json phase_json(const Phase& phase) {
  return {{"name", phase.name},
          {"kind", phase.kind},
          {"supersteps", phase.supersteps},
          {"cycles", phase.parts.total()},
          {"parts", parts_json(phase.parts)},
          {"bound", name_of(phase.bound)},
          {"most_compute", phase.most_compute},
          {"mean_compute", phase.mean_compute},
          {"imbalance", phase.imbalance()},
          {"critical_tile", phase.critical_tile},
          {"critical_cycles", phase.critical_cycles},
          {"flops", phase.flops},
          {"exchange_bytes", phase.exchange_bytes}};
}

/// Cycles of one part or phase in each of several runs.
struct Compared {
  std::string name;
  std::vector<double> cycles;

  [[nodiscard]] double apart() const {
    const auto [least, most] = std::ranges::minmax(cycles);
    return most - least;
  }
};

/// The cycles of whole runs, parts and phases.
std::vector<Compared> compared(std::span<const Analysis> analyses) {
  std::vector<Compared> lines;
  const auto put = [&](const std::string& name, std::size_t run, double cycles) {
    auto line = std::ranges::find(lines, name, &Compared::name);
    if (line == lines.end())
      line = lines.insert(line, {name, std::vector<double>(analyses.size())});
    line->cycles[run] += cycles;
  };
  for (std::size_t run = 0; run < analyses.size(); ++run) {
    put("all cycles", run, analyses[run].whole.parts.total());
    const Json parts = parts_json(analyses[run].whole.parts);
    for (const auto& [part, cycles] : parts.items()) put(part, run, cycles.get<double>());
    for (const Phase& phase : analyses[run].phases)
      put(fmt::format("phase {} ({})", phase.name, phase.kind), run, phase.parts.total());
  }
  return lines;
}

}  // namespace

std::string top(const RunFolder& run, const Analysis& analysis) {
  const double total = analysis.whole.parts.total();
  if (total <= 0) return "no superstep was measured\n";
  std::string text = whole_lines(run, analysis.whole);
  if (has_stages(run)) text += stage_lines(run, total);
  if (goes_by_stages(run)) return text + codelet_lines(run.report);
  std::vector<std::vector<std::string>> rows = {
      {"phase", "cycles", "%", "supersteps", "bound", "imbalance", "critical tile", "last %"}};
  for (std::size_t i = 0; i < std::min(kPhases, analysis.phases.size()); ++i)
    rows.push_back(phase_row(analysis.phases[i], total));
  text += table(rows, {0, 4});
  if (analysis.phases.size() > kPhases)
    text += fmt::format("  and {} shorter ones\n", analysis.phases.size() - kPhases);
  rows = {{"largest supersteps", "cycles", "%", "number", "bound", "imbalance", "last tile"}};
  for (const std::size_t row : analysis.largest) rows.push_back(step_row(run, row, total));
  text += table(rows, {0, 4});
  return text + codelet_lines(run.report);
}

std::string differences(std::span<const Analysis> analyses) {
  std::vector<Compared> lines = compared(analyses);
  std::erase_if(lines, [](const Compared& line) { return line.apart() == 0; });
  if (lines.empty()) return "\nno cycles differ\n";
  std::ranges::stable_sort(lines, std::ranges::greater(), &Compared::apart);
  std::vector<std::vector<std::string>> rows = {{"differences", "A"}};
  constexpr std::size_t kLetters = 26;
  for (std::size_t run = 1; run < analyses.size(); ++run) {
    rows.front().emplace_back(1, static_cast<char>('A' + run % kLetters));
    rows.front().push_back(rows.front().back() + " - A");
  }
  const std::size_t shown = std::min(lines.size(), kPhases);
  for (const auto& [name, cycles] : std::span(lines).first(shown)) {
    rows.push_back({name, count_of(cycles.front())});
    for (const double each : std::span(cycles).subspan(1)) {
      const double more = each - cycles.front();
      rows.back().push_back(count_of(each));
      rows.back().push_back((more < 0 ? "-" : "+") + count_of(std::abs(more)));
    }
  }
  const std::size_t left = lines.size() - shown;
  return table(rows, {0}) + (left > 0 ? fmt::format("  and {} smaller ones\n", left) : "");
}

Json to_json(const RunFolder& run, const Analysis& analysis) {
  Json phases = Json::array();
  for (const Phase& phase : analysis.phases) phases.push_back(phase_json(phase));
  Json largest = Json::array();
  for (const std::size_t row : analysis.largest) {
    largest.push_back({{"superstep", row}, {"bound", name_of(bound_of_step(run, row))}});
  }
  return {{"whole", phase_json(analysis.whole)},
          {"by_stages", goes_by_stages(run)},
          {"phases", phases},
          {"largest", largest}};
}

}  // namespace tessera::report
