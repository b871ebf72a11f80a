#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/plot/quantity.h"
#include "sim/plot/script.h"
#include "sim/plot/trace_view.h"
#include "sim/report/units.h"
#include "sim/sweep/tables.h"

namespace tessera::plot {
namespace {

using report::grouped;
using trace::Recording;
using Slices = std::vector<Recording::Slice>;

constexpr std::size_t kMostRows = 65, kMostArrows = 400;
constexpr std::size_t kParts = 40, kMostTogether = 25;  // of a window; arrows beginning in one
constexpr double kHalf = 0.4;                           // of a row's height; the rest is the gap

/// A row of the figure: the last-arriving tiles (of a zone), a tile, or one of its workers.
struct TimelineRow {
  std::string mark;
  const Slices* slices;
};

struct TimelineRows {
  std::vector<TimelineRow> rows;
  std::map<std::uint32_t, std::size_t> of_tile;
  std::vector<std::string> notes;
};

TimelineRows rows_of(const TraceView& view) {
  TimelineRows made;
  const auto& zones = view.trace->zones;
  for (const auto& [number, zone] : zones) {
    if (zones.size() > 1 && (!view.tiles.empty() || made.rows.size() == kMostRows)) break;
    made.rows.push_back(
        {zones.size() == 1 ? "last tile" : fmt::format("zone {}", number), &zone.phases});
  }
  if (view.tiles.empty() && made.rows.size() < zones.size())
    made.notes.push_back(
        fmt::format("{} of {} zones", grouped(made.rows.size()), grouped(zones.size())));
  std::size_t workers = 0;
  for (const std::uint32_t tile : view.tiles) workers += view.tile(tile).workers.size();
  const bool all = 1 + view.tiles.size() + workers <= kMostRows;
  for (const std::uint32_t number : view.tiles) {
    if (made.rows.size() == kMostRows) break;
    const Recording::Tile& tile = view.tile(number);
    made.of_tile[number] = made.rows.size();
    made.rows.push_back({fmt::format("tile {}", number), &tile.states});
    if (!all) continue;
    for (const auto& [worker, slices] : tile.workers)
      made.rows.push_back({fmt::format("worker {}", worker), &slices});
  }
  if (!all && workers > 0)
    made.notes.push_back(
        fmt::format("no workers: {} rows, at most {}", 1 + view.tiles.size() + workers, kMostRows));
  if (made.of_tile.size() < view.tiles.size())
    made.notes.push_back(
        fmt::format("{} of {} tiles", grouped(made.of_tile.size()), grouped(view.tiles.size())));
  return made;
}

/// The colour of each name, and the key's entries: states as in all figures, the codelets with most
/// time in seven other colours.
struct Inks {
  std::vector<std::string> of_name;  ///< empty: not drawn
  std::vector<std::pair<std::string, std::string>> key;
};

Inks inks_of(const TraceView& view, const TimelineRows& rows) {
  constexpr std::array kCodelets = {"#882255", "#332288", "#117733", "#AA4499",
                                    "#DDCC77", "#88CCEE", "#661100"};
  constexpr const char* kOther = "#777777";
  const std::vector<std::string>& names = view.trace->names;
  std::vector<std::uint64_t> cycles(names.size());
  for (const TimelineRow& row : rows.rows)
    for (const Recording::Slice& slice : *row.slices)
      if (view.shows(slice)) cycles[slice.name] += (slice.end - slice.begin).count();
  Inks inks{std::vector<std::string>(names.size()), {}};
  std::vector<std::size_t> codelets;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (cycles[i] == 0) continue;
    inks.of_name[i] = look_of_part(fmt::format("time.{}_cycles", names[i])).colour;
    if (inks.of_name[i].empty()) {
      codelets.push_back(i);
    } else {
      inks.key.emplace_back(inks.of_name[i], names[i]);
    }
  }
  std::ranges::stable_sort(codelets,
                           [&](std::size_t a, std::size_t b) { return cycles[a] > cycles[b]; });
  for (std::size_t i = 0; i < codelets.size(); ++i) {
    const bool own = i < kCodelets.size();
    inks.of_name[codelets[i]] = own ? kCodelets[i] : kOther;
    if (own) inks.key.emplace_back(kCodelets[i], names[codelets[i]]);
    if (i == kCodelets.size()) inks.key.emplace_back(kOther, "other codelets");
  }
  return inks;
}

/// A line of the table with a box: its sides and its colour, for gnuplot.
std::string box(double left, double right, double low, double high, const std::string& colour) {
  return fmt::format("{},{},{:.4f},{:.4f},0x{}\n", left, right, low, high, colour.substr(1));
}

/// Vertical place of a row; the first row is set apart.
double place_of(std::size_t row) { return row == 0 ? 0 : -static_cast<double>(row) - 0.5; }

/// A box for each slice.
std::string exact_boxes(const TraceView& view, const TimelineRows& rows, const Inks& inks) {
  std::string text;
  for (std::size_t row = 0; row < rows.rows.size(); ++row)
    for (const Recording::Slice& slice : *rows.rows[row].slices)
      if (view.shows(slice) && !inks.of_name[slice.name].empty())
        text += box(static_cast<double>(std::max(slice.begin.count(), view.from)),
                    static_cast<double>(std::min(slice.end.count(), view.to)),
                    place_of(row) - kHalf, place_of(row) + kHalf, inks.of_name[slice.name]);
  return text;
}

/// Stacked shares of time, for each column of a row.
std::string shared_boxes(const TraceView& view, const TimelineRows& rows, const Inks& inks) {
  const Columns columns = Columns::over(view);
  std::string text;
  for (std::size_t row = 0; row < rows.rows.size(); ++row) {
    std::vector<std::map<trace::Name, std::uint64_t>> cycles(columns.count);
    for (const Recording::Slice& slice : *rows.rows[row].slices)
      columns.spread(
          slice.begin.count(), slice.end.count(),
          [&](std::uint64_t column, std::uint64_t part) { cycles[column][slice.name] += part; });
    for (std::uint64_t column = 0; column < columns.count; ++column) {
      const auto left = static_cast<double>(columns.begin(column));
      const auto right = static_cast<double>(columns.begin(column + 1));
      double low = place_of(row) - kHalf;
      for (const auto& [name, part] : cycles[column]) {
        const double high = low + 2 * kHalf * static_cast<double>(part) / (right - left);
        text += box(left, right, low, high, inks.of_name[name]);
        low = high;
      }
    }
  }
  return text;
}

bool too_many(const TraceView& view, const TimelineRows& rows) {
  return std::ranges::any_of(rows.rows, [&](const TimelineRow& row) {
    return std::count_if(row.slices->begin(), row.slices->end(), [&](const auto& slice) {
             return view.shows(slice);
           }) > static_cast<std::ptrdiff_t>(kMostColumns);
  });
}

/// Transfers between tiles that both have a row: from the sender's row at their begin to the
/// receiver's row at their end.
std::string arrows_of(const TraceView& view, bool summarised, TimelineRows& rows) {
  std::string text;
  std::size_t count = 0, outside = 0;
  std::array<std::size_t, kParts> dense{};
  for (const auto& [to, row] : rows.of_tile) {
    for (const Recording::Arrival& each : view.tile(to).transfers) {
      if (!view.shows(each) || each.from == to) continue;
      const auto from = rows.of_tile.find(each.from);
      if (from == rows.of_tile.end()) {
        ++outside;
        continue;
      }
      const std::uint64_t late = std::max(each.begin.count(), view.from) - view.from;
      const double part = static_cast<double>(late) / static_cast<double>(view.to - view.from);
      ++dense[static_cast<std::size_t>(part * kParts)];
      if (++count > kMostArrows || summarised) continue;
      text += fmt::format("{},{},{},{}\n", each.begin.count(), place_of(from->second),
                          (each.end - each.begin).count(), place_of(row) - place_of(from->second));
    }
  }
  const std::size_t most = *std::ranges::max_element(dense);
  const bool drawn = count == 0 || (!summarised && count <= kMostArrows && most <= kMostTogether);
  if (!drawn)
    rows.notes.push_back(fmt::format("no arrows: {} transfers, at most {}, {} in {} cycles",
                                     grouped(count), kMostArrows, kMostTogether,
                                     grouped((view.to - view.from) / kParts)));
  if (drawn && outside > 0)
    rows.notes.push_back(fmt::format("{} transfers from other tiles", grouped(outside)));
  if (drawn) return text;
  return "";
}

/// The table of all that is drawn, unclipped: one line per superstep, slice and transfer.
std::string csv_of(const TraceView& view) {
  std::string csv = "kind,tile,worker,name,from_tile,bytes,begin_cycle,end_cycle\n";
  const auto add = [&](const std::string& what, const std::string& name, const std::string& bytes,
                       const auto& slice) {
    if (!view.shows(slice)) return;
    csv += fmt::format("{},{},{},{},{}\n", what, sweep::csv_cell(name), bytes, slice.begin.count(),
                       slice.end.count());
  };
  const auto name_of = [&](const auto& slice) { return view.trace->names[slice.name]; };
  for (const auto& [number, zone] : view.trace->zones) {
    for (const Recording::Superstep& each : zone.supersteps)
      add("superstep,,", name_of(each), fmt::format(",{}", each.bytes.count()), each);
    for (const Recording::Slice& each : zone.phases) add("phase,,", name_of(each), ",", each);
  }
  for (const std::uint32_t number : view.tiles) {
    const Recording::Tile& tile = view.tile(number);
    for (const Recording::Slice& each : tile.states)
      add(fmt::format("tile,{},", number), name_of(each), ",", each);
    for (const auto& [worker, slices] : tile.workers)
      for (const Recording::Slice& each : slices)
        add(fmt::format("worker,{},{}", number, worker), name_of(each), ",", each);
    for (const Recording::Arrival& each : tile.transfers)
      add(fmt::format("transfer,{},", number), "",
          fmt::format("{},{}", each.from, each.bytes.count()), each);
  }
  return csv;
}

/// Marks of rows, thinned until they do not overlap.
std::string row_marks(const TimelineRows& rows, const Sheet& sheet) {
  constexpr double kPlot = 0.7;  // of the sheet's height
  const double room = kPlot * sheet.height / static_cast<double>(rows.rows.size());
  double last = 1;
  std::vector<std::string> marks;
  const bool workers = room >= 0.85 * sheet.line();
  for (std::size_t row = 0; row < rows.rows.size(); ++row) {
    if (!workers && rows.rows[row].mark.starts_with("worker")) continue;
    if (!marks.empty() && (last - place_of(row)) * room < 0.85 * sheet.line()) continue;
    marks.push_back(fmt::format("{} {}", literal(rows.rows[row].mark), place_of(row)));
    last = place_of(row);
  }
  return fmt::format("{}", fmt::join(marks, ", "));
}

std::string key_of(const Inks& inks, bool arrows) {
  std::string text;
  for (const auto& [colour, name] : inks.key)
    text += fmt::format(", \\\n  keyentry with boxes fs solid noborder lc rgb '{}' title {}",
                        colour, literal(name));
  if (arrows) text += ", \\\n  keyentry with lines lw 1 lc rgb '#222222' title 'transfer'";
  return text;
}

}  // namespace

/// Draws the states of chosen tiles and their workers over time, and their transfers as arrows; if
/// there are too many slices, the shares of states in each column.
Figure trace_timeline(const Source& source, const Request& request) {
  const TraceView view = view_of(*source.trace, request);
  TimelineRows rows = rows_of(view);
  const bool summarised = too_many(view, rows);
  if (summarised) {
    std::uint64_t supersteps = 0;
    for (const auto& [number, zone] : view.trace->zones)
      supersteps += static_cast<std::uint64_t>(std::ranges::count_if(
          zone.supersteps, [&](const auto& each) { return view.shows(each); }));
    rows.notes.insert(rows.notes.begin(),
                      fmt::format("summarised: {} supersteps in {} columns", grouped(supersteps),
                                  Columns::over(view).count));
  }
  const Inks inks = inks_of(view, rows);
  const std::string arrows = arrows_of(view, summarised, rows);
  Figure figure;
  constexpr double kRow = 0.11, kAround = 1.4, kLeast = 0.42;  // inches; of the width
  constexpr std::size_t kFew = 20;
  const double row = rows.rows.size() <= kFew ? request.sheet.line() : kRow;
  figure.sheet =
      sheet_of(request, std::max(kLeast, (row * static_cast<double>(rows.rows.size()) + kAround) /
                                             request.sheet.width));
  figure.csv = csv_of(view);
  figure.script =
      heading({trace_title(source, request), time_label(view, rows.notes)}, request, figure.sheet) +
      fmt::format("$boxes << END\nleft,right,low,high,colour\n{}END\n",
                  summarised ? shared_boxes(view, rows, inks) : exact_boxes(view, rows, inks)) +
      fmt::format("$arrows << END\nbegin,row,cycles,rows\n{}END\n", arrows) + "set grid x noy\n" +
      time_axis(view, figure.sheet) +
      fmt::format("set ytics scale 0 ({})\nset yrange [{}:0.6]\n", row_marks(rows, figure.sheet),
                  place_of(rows.rows.size()) + 0.4) +
      "plot $boxes using (($1+$2)/2):(($3+$4)/2):1:2:3:4:5 with boxxyerror fs solid border lw 0.4 "
      "lc "
      "rgb variable notitle";
  if (!arrows.empty())
    figure.script +=
        ", \\\n  $arrows using 1:2:3:4 with vectors head filled size screen 0.012,15 lw 0.7 lc rgb "
        "'#60222222' notitle";
  figure.script += key_of(inks, !arrows.empty()) + "\n";
  return figure;
}

}  // namespace tessera::plot
