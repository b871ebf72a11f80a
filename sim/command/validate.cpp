#include "sim/command/validate.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <thread>

#include <fmt/format.h>

#include "sim/command/children.h"
#include "sim/command/validation_set.h"
#include "sim/config/nearest.h"

namespace tessera::command {
namespace {

/// A point with what the simulation says of it.
struct Row {
  const ValidationPoint* point;
  double simulated = 0;
  double fraction_of_peak = 0;
  std::string error;  ///< why there is no number

  [[nodiscard]] double ratio() const { return simulated / point->published; }
};

/// Runs one point; the result travels as the text of {"value": ...} or {"error": ...}.
std::string simulate(const ValidationSet& set, const ValidationPoint& point,
                     const Simulator& simulator) {
  config::Json answer;
  try {
    const config::Config config = point_config(set, point, simulator.catalogue, simulator.machines);
    const report::Built built = simulator.build(config);
    const report::Report report = make_report(config, built, simulator.run(config, built));
    if (!report.passed()) throw UserError("the result is wrong");
    answer["value"] = metric_of(point.metric, report.json);
    answer["fraction_of_peak"] = report.json["rate"]["fraction_of_peak"];
  } catch (const std::exception& error) {
    answer["error"] = error.what();
  }
  return answer.dump(-1, ' ', false, config::Json::error_handler_t::replace);
}

bool point_passes(const Row& row) {
  const ValidationPoint& point = *row.point;
  if (!row.error.empty()) return false;
  const double difference = std::abs(row.simulated - point.published);
  return (point.within == 0 || difference <= point.within * point.published) &&
         (point.within_absolute == 0 || difference <= point.within_absolute) &&
         (point.peak_at_most == 0 || row.fraction_of_peak <= point.peak_at_most);
}

void print_row(const Row& row) {
  if (!row.error.empty()) {
    fmt::print("  {:<28} {:>14.6g}  {}\n", row.point->name, row.point->published, row.error);
  } else {
    fmt::print("  {:<28} {:>14.6g} {:>14.6g} {:>8.3f}{}\n", row.point->name, row.point->published,
               row.simulated, row.ratio(), point_passes(row) ? "" : "  outside its gate");
  }
  std::fflush(stdout);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

bool gate(const std::string& what, bool passed) {
  fmt::print("  {}: {}\n", passed ? "pass" : "FAIL", what);
  return passed;
}

bool judge(const Gates& gates, const std::vector<Row>& rows) {
  const bool complete = gate("every point has a number within its own gate, if it has one",
                             std::all_of(rows.begin(), rows.end(), point_passes));
  std::vector<double> ratios;
  for (const Row& row : rows) {
    if (row.error.empty()) ratios.push_back(row.ratio());
  }
  if (ratios.empty()) return false;
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  bool passed = complete;
  if (gates.each_within > 0) {
    const double worst = std::max(1 - *least, *most - 1);
    passed &= gate(
        fmt::format("each within {:.1f} % (worst {:.2f} %)", 100 * gates.each_within, 100 * worst),
        worst <= gates.each_within);
  }
  if (gates.median_high > 0) {
    const double middle = median(ratios);
    passed &= gate(fmt::format("median ratio within {} to {} ({:.3f})", gates.median_low,
                               gates.median_high, middle),
                   middle >= gates.median_low && middle <= gates.median_high);
  }
  if (gates.none_above > 0) {
    passed &= gate(fmt::format("no ratio outside {} to {} ({:.3f} to {:.3f})", gates.none_below,
                               gates.none_above, *least, *most),
                   *least >= gates.none_below && *most <= gates.none_above);
  }
  return passed;
}

bool validate_set(const ValidationSet& set, const ValidateRequest& request,
                  const Simulator& simulator) {
  std::vector<Row> rows;
  for (const ValidationPoint& point : set.points) {
    if (point.quick || !request.quick) rows.push_back({&point, 0, 0, ""});
  }
  if (rows.empty()) return true;
  fmt::print("{}: {}\n  {}\n  {:<28} {:>14} {:>14} {:>8}\n", set.name, set.title, set.citation,
             set.metric.unit, "published", "simulated", "ratio");
  const unsigned jobs =
      request.jobs > 0 ? request.jobs : std::max(1U, std::thread::hardware_concurrency());
  run_in_children(
      rows.size(), jobs, [&](std::size_t i) { return simulate(set, *rows[i].point, simulator); },
      [&](const Children::Finished& finished) {
        const std::size_t i = finished.item;
        const config::Json answer =
            finished.death.empty()
                ? config::Json::parse(finished.text)
                : config::Json{{"error", "the simulation died: " + finished.death}};
        rows[i].error = answer.value("error", "");
        rows[i].simulated = answer.value("value", 0.0);
        rows[i].fraction_of_peak = answer.value("fraction_of_peak", 0.0);
        print_row(rows[i]);
      });
  return judge(set.gates, rows);
}

}  // namespace

ExitCode validate(const ValidateRequest& request, const Simulator& simulator) {
  std::vector<std::string_view> names;
  for (const config::Preset& preset : simulator.validation) names.push_back(preset.name);
  for (const std::string& name : request.sets) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    throw UserError(fmt::format("tessera validate: found {}, allowed {}{}", name,
                                config::list_of(names), config::did_you_mean(name, names)));
  }
  bool passed = true;
  for (const config::Preset& preset : simulator.validation) {
    const std::string name(preset.name);
    const auto& wanted = request.sets;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end()) continue;
    passed &= validate_set(read_validation_set(preset), request, simulator);
  }
  return passed ? ExitCode::done : ExitCode::check_failed;
}

}  // namespace tessera::command
