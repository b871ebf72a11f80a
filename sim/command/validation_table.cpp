
#include <cstdio>

#include <fmt/format.h>

#include "sim/base/ranges.h"
#include "sim/command/accuracy.h"
#include "sim/sweep/tables.h"

namespace tessera::command {

namespace {

using config::Json;

/// The names of all further published numbers, as they come.
std::vector<std::string> context_of(const std::vector<Row>& rows) {
  std::vector<std::string> names;
  for (const Row& row : rows) {
    for (const auto& item : row.point->context.items()) add_once(names, item.key());
  }
  return names;
}

std::string axes_csv(const ValidationSet& set, const Row& row) {
  std::string text;
  for (const std::string& axis : set.axes) {
    const bool chosen = axis == row.point->best.over;
    const Json value = chosen ? row.at : value_of(set, *row.point, axis);
    text += "," + sweep::csv_cell(value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

std::string numbers_csv(const Row& row) {
  const bool compares = row.point->fits && row.point->published != 0;
  const std::string published = compares ? fmt::format("{}", row.point->published) : "";
  if (!row.error.empty()) return fmt::format(",{},,,,,,,", published);
  const std::string ratio = compares ? fmt::format("{:.6g}", row.ratio()) : "";
  const Phases& parts = row.phases;
  return fmt::format(",{},{:.9g},{},{:.4g},{:.4g},{:.4g},{:.4g},{:.4g}", published, row.simulated,
                     ratio, parts.compute, parts.exchange, parts.sync, parts.host, parts.wait);
}

std::string cell_of(const Json& columns, const std::string& key) {
  return columns.contains(key) ? sweep::csv_cell(columns.at(key).dump()) : "";
}

/// Kind of evidence, whether near what is published, whether where it was recorded.
std::string verdicts_csv(const ValidationSet& set, const Row& row) {
  const std::optional<double> ratio = agreement(row);
  const char* const near = !ratio ? "" : *ratio >= 1 / kNear && *ratio <= kNear ? "near" : "far";
  return fmt::format(",{},{},{}", kind_of(set.evidence).name, near,
                     !row.point->recorded ? ""
                     : point_passes(row)  ? "pass"
                                          : "FAIL");
}

std::string speedups_csv(const Row& row) {
  const double known = row.point->published_speedup;
  const bool done = row.error.empty();
  return fmt::format(",{},{},{}", known > 0 ? fmt::format("{}", known) : "",
                     done ? fmt::format("{:.6g}", row.speedup()) : "",
                     done && known > 0 ? fmt::format("{:.6g}", row.speedup() / known) : "");
}

}  // namespace

void print_heading(const ValidationSet& set) {
  fmt::print("{}: {}\n  {}\n  {:<28} {:>14} {:>14} {:>8}", set.name, set.title, set.citation,
             set.metric.unit, "published", "simulated", "ratio");
  if (set.unexplained.given) fmt::print(" with {:g}", set.unexplained.amount);
  fmt::print("  compute exchange sync host wait, %");
  fmt::print("{}\n",
             set.baseline.config.is_null() ? "" : "  speed-up: published, simulated, ratio");
}

void print_row(const Row& row) {
  const ValidationPoint& point = *row.point;
  const std::string number =
      point.published != 0 ? fmt::format("{:.6g}", point.published) : std::string("-");
  const std::string published = point.fits ? number : "too large";
  const std::string ratio =
      point.fits && point.published != 0 ? fmt::format("{:.3f}", row.ratio()) : std::string("-");
  if (!row.error.empty()) {
    const std::string error = row.error.substr(0, row.error.find('\n'));
    fmt::print("  {:<28} {:>14}  {}{}\n", point.name, published, error,
               point.fits || point_passes(row) ? "" : "  moved from its record");
  } else {
    std::string more = point.unexplained != 0 && point.published != 0
                           ? fmt::format(" {:>9.3f}", row.ratio_with_unexplained())
                           : std::string();
    const Phases& parts = row.phases;
    more += fmt::format("  {:>7.0f} {:>8.0f} {:>4.0f} {:>4.0f} {:>4.0f}", 100 * parts.compute,
                        100 * parts.exchange, 100 * parts.sync, 100 * parts.host, 100 * parts.wait);
    if (row.baseline_seconds > 0) {
      const double known = point.published_speedup;
      more += fmt::format(" {:>9} {:>9.3g} {:>6}", known > 0 ? fmt::format("{:.3g}", known) : "-",
                          row.speedup(),
                          known > 0 ? fmt::format("{:.3f}", row.speedup() / known) : "-");
    }
    fmt::print("  {:<28} {:>14} {:>14.6g} {:>8}{}{}\n", point.name, published, row.simulated, ratio,
               more, point_passes(row) ? "" : "  moved from its record");
  }
  if (!point.why.empty()) fmt::print("    {}\n", point.why);
  std::fflush(stdout);
}

std::string table_csv(const ValidationSet& set, const std::vector<Row>& rows) {
  const bool speedups = !set.baseline.config.is_null();
  const std::vector<std::string> context = context_of(rows);
  std::string text = "name";
  for (const std::string& axis : set.axes) text += "," + sweep::csv_cell(axis);
  text += ",published,simulated,ratio,compute,exchange,sync,host,wait";
  if (speedups) text += ",published_speedup,simulated_speedup,speedup_ratio";
  text += ",evidence,accuracy,regression";
  if (set.unexplained.given) text += ",ratio_with_unexplained";
  if (!set.changed.empty()) text += ",set";
  for (const std::string& name : context) text += "," + sweep::csv_cell(name);
  for (const std::string& key : set.columns) text += "," + sweep::csv_cell(key);
  for (const std::string& key : set.columns)
    if (speedups) text += "," + sweep::csv_cell("baseline." + key);
  text += "\n";
  for (const Row& row : rows) {
    const Json& known = row.point->context;
    text += sweep::csv_cell(row.point->name) + axes_csv(set, row) + numbers_csv(row);
    if (speedups) text += speedups_csv(row);
    text += verdicts_csv(set, row);
    if (set.unexplained.given)
      text += agreement(row) ? fmt::format(",{:.6g}", row.ratio_with_unexplained()) : ",";
    if (!set.changed.empty())
      text += "," + sweep::csv_cell(fmt::format("{}", fmt::join(set.changed, " ")));
    for (const std::string& name : context) {
      text += "," + (known.contains(name) ? sweep::csv_cell(known.at(name).dump()) : "");
    }
    for (const std::string& key : set.columns) text += "," + cell_of(row.columns, key);
    for (const std::string& key : set.columns)
      if (speedups) text += "," + cell_of(row.baseline_columns, key);
    text += "\n";
  }
  return text;
}

}  // namespace tessera::command
