#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/errors.h"
#include "sim/base/types.h"
#include "sim/plot/quantity.h"
#include "sim/plot/script.h"

namespace tessera::plot {
namespace {

/// A part of a superstep's time; the parts follow each other in this order.
struct Lane {
  const char* name;
  const char* column;
};

/// From one barrier's release to the next, see `program/flow.h`.
constexpr std::array kLanes = {
    Lane{"wait", "wait_cycles"}, Lane{"exchange", "exchange_cycles"}, Lane{"link", "link_cycles"},
    Lane{"host", "host_cycles"}, Lane{"compute", "compute_cycles"},   Lane{"sync", "sync_cycles"}};

/// Supersteps drawn as one.
struct Span {
  std::size_t first, count;
  double start, cycles;
  std::array<double, kLanes.size()> parts;
  std::string name;
};

/// Supersteps of the zone that computes most, which the run's time is attributed to; other zones
/// run concurrently.
std::vector<std::size_t> busiest_zone(const report::Table& steps) {
  const report::Column* const zones = steps.find("zone");
  const auto zone_of = [&](std::size_t row) { return zones == nullptr ? 0 : zones->values[row]; };
  std::map<double, double> computing;
  for (std::size_t row = 0; row < steps.rows; ++row)
    computing[zone_of(row)] += steps.at("compute_cycles").values[row];
  const double busiest =
      std::ranges::max_element(computing, {}, [](const auto& zone) { return zone.second; })->first;
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < steps.rows; ++row)
    if (zone_of(row) == busiest) rows.push_back(row);
  return rows;
}

std::vector<Span> spans_of(const report::Table& steps, const std::vector<std::size_t>& rows,
                           std::size_t together) {
  std::vector<Span> spans;
  const auto& starts = steps.at("start_cycle").values;
  const auto& cycles = steps.at("cycles").values;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t row = rows[i];
    if (i % together == 0)
      spans.push_back({row, 0, starts[row] - starts[rows[0]], 0, {}, steps.at("name").word(row)});
    Span& span = spans.back();
    ++span.count;
    span.cycles += cycles[row];
    for (std::size_t lane = 0; lane < kLanes.size(); ++lane)
      span.parts[lane] += steps.at(kLanes[lane].column).values[row];
  }
  return spans;
}

std::string csv_of(const std::vector<Span>& spans, const std::vector<std::size_t>& lanes) {
  std::string csv = "superstep,supersteps,lane,part,start_cycle,end_cycle\n";
  for (const Span& span : spans) {
    double at = span.start;
    for (std::size_t lane = 0; lane < kLanes.size(); ++lane) {
      const double end = at + span.parts[lane];
      const auto drawn = std::ranges::find(lanes, lane);
      if (drawn != lanes.end() && end > at) {
        csv += fmt::format("{},{},{},{},{},{}\n", span.first, span.count, drawn - lanes.begin(),
                           kLanes[lane].name, at, end);
      }
      at = end;
    }
  }
  return csv;
}

/// Names above the supersteps that are wide enough.
std::string names_of(const std::vector<Span>& spans, double whole, std::size_t lanes,
                     const Sheet& sheet) {
  constexpr double kPlot = 0.8;  // of the sheet's width
  std::string script = "set style textbox opaque noborder\n";
  for (const Span& span : spans) {
    if (span.count > 1) continue;
    if (kPlot * sheet.width * span.cycles / whole < sheet.width_of(span.name)) continue;
    script += fmt::format("set label {} at {},{} center front boxed tc rgb '#444444'\n",
                          literal(span.name), span.start + span.cycles / 2,
                          static_cast<double>(lanes) - 0.35);
  }
  return script;
}

}  // namespace

/// Draws supersteps over time: the parts of each one's last-arriving tile; for a trace, its tiles.
Figure timeline(const Source& source, const Request& request) {
  if (source.trace != nullptr) return trace_timeline(source, request);
  constexpr std::size_t kMostSpans = 400;
  const report::Table& steps = source.run->steps;
  if (steps.rows == 0)
    throw UserError(source.run->folder + "/steps.csv: no superstep was measured");
  const std::vector<std::size_t> rows = busiest_zone(steps);
  const std::size_t together = ceil_div(rows.size(), kMostSpans);
  const std::vector<Span> spans = spans_of(steps, rows, together);
  const double whole = spans.back().start + spans.back().cycles;
  std::vector<std::size_t> lanes;
  std::vector<std::string> marks, parts;
  for (std::size_t lane = 0; lane < kLanes.size(); ++lane) {
    const auto used = [&](const Span& span) { return span.parts[lane] > 0; };
    if (std::ranges::none_of(spans, used)) continue;
    marks.push_back(fmt::format("'{}' {}", kLanes[lane].name, lanes.size()));
    parts.push_back(fmt::format(
        "  data using ($3=={0}?($5+$6)/2:NaN):3:5:6:($3-0.38):($3+0.38) with boxxyerror fs solid "
        "noborder lc rgb '{1}'",
        lanes.size(), look_of_part(fmt::format("time.{}", kLanes[lane].column)).colour));
    lanes.push_back(lane);
  }
  Figure figure;
  figure.sheet = sheet_of(request, 0.42);
  figure.csv = csv_of(spans, lanes);
  std::string title = title_of(source.rows, request);
  if (rows.size() < steps.rows)
    title += fmt::format(", supersteps of zone {}", steps.at("zone").values[rows[0]]);
  if (together > 1)
    title += fmt::format(" ({} supersteps, {} drawn as one)", rows.size(), together);
  figure.script =
      heading({title, "time (cycles)"}, request, figure.sheet) +
      fmt::format(
          "unset key\nset grid x noy\nset ytics scale 0 ({})\nset xrange [0:{}]\n"
          "set yrange [-0.6:{}]\nset xtics ({})\n{}plot \\\n{}\n",
          fmt::join(marks, ", "), whole, static_cast<double>(lanes.size()) - 0.1,
          number_marks(0, whole, figure.sheet.marks_across()),
          names_of(spans, whole, lanes.size(), figure.sheet), fmt::join(parts, ", \\\n"));
  return figure;
}

}  // namespace tessera::plot
