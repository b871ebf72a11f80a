#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/counted.h"
#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/plot/quantity.h"
#include "sim/plot/script.h"
#include "sim/plot/trace_view.h"

namespace tessera::plot {
namespace {

using trace::Recording;

/// A number per column of a window.
using Course = std::vector<double>;

constexpr std::array<std::string_view, 6> kStates = {"compute", "exchange", "external",
                                                     "wait",    "sync",     "host"};

/// Cycles of each state in each column.
std::array<Course, kStates.size()> courses_of(
    const TraceView& view, const Columns& columns,
    const std::vector<const std::vector<Recording::Slice>*>& rows) {
  std::array<Course, kStates.size()> courses;
  courses.fill(Course(columns.count));
  for (const auto* row : rows) {
    for (const Recording::Slice& slice : *row) {
      const auto state = std::ranges::find(kStates, view.trace->names[slice.name]);
      if (state == kStates.end()) continue;
      Course& course = courses[static_cast<std::size_t>(state - kStates.begin())];
      columns.spread(slice.begin.count(), slice.end.count(),
                     [&](std::uint64_t column, std::uint64_t cycles) {
                       course[column] += static_cast<double>(cycles);
                     });
    }
  }
  return courses;
}

/// Shares of the contexts' time in which workers run; empty if the trace has no workers.
Course busy_workers(const TraceView& view, const Columns& columns) {
  Course busy(columns.count);
  std::size_t workers = 0;
  for (const std::uint32_t number : view.tiles) {
    for (const auto& [worker, slices] : view.tile(number).workers) {
      ++workers;
      for (const Recording::Slice& slice : slices)
        columns.spread(slice.begin.count(), slice.end.count(),
                       [&](std::uint64_t column, std::uint64_t cycles) {
                         busy[column] += static_cast<double>(cycles);
                       });
    }
  }
  for (std::uint64_t i = 0; i < columns.count; ++i)
    busy[i] /= static_cast<double>(workers * (columns.begin(i + 1) - columns.begin(i)));
  if (workers == 0) busy.clear();
  return busy;
}

/// Adds bytes evenly over an interval, or at its column if it is empty.
void add_bytes(const Columns& columns, std::uint64_t begin, std::uint64_t end, Bytes bytes,
               Course& course) {
  const auto amount = static_cast<double>(bytes.count());
  if (begin == end) {
    if (begin >= columns.from && begin < columns.to) course[columns.column_of(begin)] += amount;
    return;
  }
  const double rate = amount / static_cast<double>(end - begin);
  columns.spread(begin, end, [&](std::uint64_t column, std::uint64_t cycles) {
    course[column] += rate * static_cast<double>(cycles);
  });
}

/// Bytes exchanged by all tiles, spread over the last tile's exchange or else the superstep.
Course bytes_of_machine(const TraceView& view, const Columns& columns) {
  Course course(columns.count);
  for (const auto& [number, zone] : view.trace->zones) {
    auto phase = zone.phases.begin();
    for (const Recording::Superstep& step : zone.supersteps) {
      std::uint64_t begin = step.begin.count(), end = step.end.count();
      bool found = false;
      for (; phase != zone.phases.end() && phase->begin < step.end; ++phase) {
        if (view.trace->names[phase->name] != "exchange") continue;
        if (!found) begin = phase->begin.count();
        end = phase->end.count();
        found = true;
      }
      add_bytes(columns, begin, end, step.bytes, course);
    }
  }
  return course;
}

Course bytes_of_tiles(const TraceView& view, const Columns& columns) {
  Course course(columns.count);
  for (const std::uint32_t number : view.tiles)
    for (const Recording::Arrival& each : view.tile(number).transfers)
      add_bytes(columns, each.begin.count(), each.end.count(), each.bytes, course);
  return course;
}

std::string columns_note(const Columns& columns) {
  return fmt::format("means over {} columns", columns.count);
}

}  // namespace

/// Draws the shares of time in which chosen tiles compute, exchange, wait; of the last-arriving
/// tiles if the trace has no tiles.
Figure utilisation(const Source& source, const Request& request) {
  const TraceView view = view_of(*source.trace, request);
  const Columns columns = Columns::over(view);
  auto rows = mapped(view.tiles, [&](std::uint32_t number) { return &view.tile(number).states; });
  if (rows.empty())
    for (const auto& [number, zone] : view.trace->zones) rows.push_back(&zone.phases);
  const auto courses = courses_of(view, columns, rows);
  const Course busy = busy_workers(view, columns);
  Figure figure;
  figure.sheet = sheet_of(request, 0.45);
  figure.csv = fmt::format("begin_cycle,end_cycle,{}{}\n", fmt::join(kStates, ","),
                           busy.empty() ? "" : ",busy_workers");
  for (std::uint64_t i = 0; i < columns.count; ++i) {
    const std::uint64_t begin = columns.begin(i), end = columns.begin(i + 1);
    figure.csv += fmt::format("{},{}", begin, end);
    for (const Course& course : courses)
      figure.csv +=
          fmt::format(",{:.6f}", course[i] / static_cast<double>(rows.size() * (end - begin)));
    figure.csv += busy.empty() ? "\n" : fmt::format(",{:.6f}\n", busy[i]);
  }
  std::vector<std::string> parts;
  std::string below = "0";
  for (std::size_t i = 0; i < kStates.size(); ++i) {
    const std::string above = fmt::format("{}+${}", below, i + 3);
    const bool used = std::ranges::any_of(courses[i], [](double cycles) { return cycles > 0; });
    if (used)
      parts.push_back(
          fmt::format("  data using (($1+$2)/2):({1}):1:2:({0}):({1}) with boxxyerror fs solid "
                      "border lw 0.4 lc rgb "
                      "'{2}' title '{3}'",
                      below, above, look_of_part(fmt::format("time.{}_cycles", kStates[i])).colour,
                      kStates[i]));
    below = above;
  }
  if (!busy.empty())
    parts.push_back(
        fmt::format("  data using 1:{} with steps lw 1.2 lc rgb '#222222' title 'busy workers'",
                    kStates.size() + 3));
  const std::string whose = view.tiles.empty() ? "time of the last tiles"
                                               : "time of " + counted(view.tiles.size(), "tile");
  figure.script =
      heading({trace_title(source, request), time_label(view, {columns_note(columns)}), whose},
              request, figure.sheet) +
      time_axis(view, figure.sheet) +
      "set yrange [0:1]\nset ytics ('0' 0, '25%%' 0.25, '50%%' 0.5, '75%%' 0.75, '100%%' 1)\n" +
      fmt::format("plot \\\n{}\n", fmt::join(parts, ", \\\n"));
  return figure;
}

/// Draws bytes per cycle: exchanged by all tiles, or received by the tiles of --tiles.
Figure traffic(const Source& source, const Request& request) {
  const TraceView view = view_of(*source.trace, request);
  const Columns columns = Columns::over(view);
  const bool chosen = !request.tiles.empty();
  const Course bytes = chosen ? bytes_of_tiles(view, columns) : bytes_of_machine(view, columns);
  Figure figure;
  figure.sheet = sheet_of(request, 0.45);
  figure.csv = "begin_cycle,end_cycle,bytes,bytes_per_cycle\n";
  double most = 0;
  for (std::uint64_t i = 0; i < columns.count; ++i) {
    const std::uint64_t begin = columns.begin(i), end = columns.begin(i + 1);
    const double rate = bytes[i] / static_cast<double>(end - begin);
    most = std::max(most, rate);
    figure.csv += fmt::format("{},{},{:.10g},{:.10g}\n", begin, end, bytes[i], rate);
  }
  const std::string whose =
      chosen ? "into " + counted(view.tiles.size(), "tile") : std::string("all tiles");
  figure.script =
      heading({trace_title(source, request), time_label(view, {columns_note(columns)}),
               whose + " (B/cycle)"},
              request, figure.sheet) +
      "unset key\n" + time_axis(view, figure.sheet) + linear_axis("y", most, figure.sheet).script +
      fmt::format(
          "plot data using (($1+$2)/2):4:1:2:(0):4 with boxxyerror fs solid border lw 0.4 lc "
          "rgb '{}'\n",
          look_of_part("time.exchange_cycles").colour);
  return figure;
}

}  // namespace tessera::plot
