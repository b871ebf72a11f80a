#include <algorithm>

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

std::string phase_line(const Phase& phase, double total) {
  return fmt::format("  {:<24} {:>15} {:>6.1f} {:>10}  {:<9} {:>9.2f} {:>13} {:>9.1f}\n",
                     phase.name, grouped(static_cast<std::uint64_t>(phase.parts.total())),
                     100 * phase.parts.total() / total, phase.supersteps, name_of(phase.bound),
                     phase.imbalance(), phase.critical_tile,
                     100 * phase.critical_cycles / phase.parts.total());
}

std::string step_line(const RunFolder& run, std::size_t row, double total) {
  const auto value = [&](std::string_view name) { return run.steps.at(name).values[row]; };
  const double mean = value("mean_compute_cycles");
  return fmt::format("  {:<24} {:>15} {:>6.1f} {:>10}  {:<9} {:>9.2f} {:>13}\n",
                     run.steps.at("name").word(row),
                     grouped(static_cast<std::uint64_t>(value("cycles"))),
                     100 * value("cycles") / total, row, name_of(bound_of_step(run, row)),
                     mean > 0 ? value("most_compute_cycles") / mean : 1.0, value("last_tile"));
}

/// The stages, longest first: what the tile that computes most does, and the busiest kind of
/// stream.
std::string stage_lines(const RunFolder& run, double total) {
  std::vector<std::pair<double, std::string>> lines;
  for (const auto& [name, stage] : run.report.at("stages").items()) {
    const auto cycles = stage.at("cycles").get<double>();
    std::pair<std::uint64_t, std::string> busiest{0, "-"};
    for (const auto& [stream, carried] : stage.at("streams").items())
      busiest = std::max(busiest, {carried.at("cycles").get<std::uint64_t>(), stream});
    lines.emplace_back(
        cycles, fmt::format("  {:<24} {:>15} {:>6.1f} {:>13} {:>13}  {:<14} {:>13}\n", name,
                            grouped(static_cast<std::uint64_t>(cycles)), 100 * cycles / total,
                            grouped(stage.at("compute_cycles").get<std::uint64_t>()),
                            grouped(stage.at("wait_cycles").get<std::uint64_t>()), busiest.second,
                            grouped(busiest.first)));
  }
  std::ranges::stable_sort(lines, std::ranges::greater(), &std::pair<double, std::string>::first);
  std::string text = fmt::format("\n  {:<24} {:>15} {:>6} {:>13} {:>13}  {:<14} {:>13}\n", "stage",
                                 "cycles", "%", "compute", "waiting", "busiest stream", "busy");
  for (std::size_t i = 0; i < std::min(kPhases, lines.size()); ++i) text += lines[i].second;
  if (lines.size() > kPhases)
    text += fmt::format("  and {} shorter ones\n", lines.size() - kPhases);
  return text;
}

/// The codelets by the cycles that worker contexts spent in them, most first.
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
  std::string text = fmt::format("\n  {:<24} {:>15} {:>6} {:>10}\n", "codelet", "context cycles",
                                 "%", "issuing %");
  constexpr std::size_t kMost = 12;
  for (std::size_t i = 0; i < std::min(kMost, codelets.size()); ++i) {
    const Codelet& each = codelets[i];
    text += fmt::format("  {:<24} {:>15} {:>6.1f} {:>10.1f}\n", each.name,
                        grouped(static_cast<std::uint64_t>(each.cycles)), 100 * each.cycles / total,
                        100 * each.issuing / each.cycles);
  }
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

}  // namespace

std::string top(const RunFolder& run, const Analysis& analysis) {
  const double total = analysis.whole.parts.total();
  if (total <= 0) return "no superstep was measured\n";
  std::string text = whole_lines(run, analysis.whole);
  if (has_stages(run)) text += stage_lines(run, total);
  if (goes_by_stages(run)) return text + codelet_lines(run.report);
  text += fmt::format("\n  {:<24} {:>15} {:>6} {:>10}  {:<9} {:>9} {:>13} {:>9}\n", "phase",
                      "cycles", "%", "supersteps", "bound", "imbalance", "critical tile", "last %");
  for (std::size_t i = 0; i < std::min(kPhases, analysis.phases.size()); ++i) {
    text += phase_line(analysis.phases[i], total);
  }
  if (analysis.phases.size() > kPhases) {
    text += fmt::format("  and {} shorter ones\n", analysis.phases.size() - kPhases);
  }
  text += fmt::format("\n  {:<24} {:>15} {:>6} {:>10}  {:<9} {:>9} {:>13}\n", "largest supersteps",
                      "cycles", "%", "number", "bound", "imbalance", "last tile");
  for (const std::size_t row : analysis.largest) text += step_line(run, row, total);
  return text + codelet_lines(run.report);
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
