#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/plot/axis.h"
#include "sim/plot/script.h"
#include "sim/plot/trace_view.h"

namespace tessera::plot {
namespace {

constexpr std::size_t kMostPlaces = 128;  // along each axis; beyond, neighbours are merged

/// Bytes from tile to tile; a key is the first of `together` tiles.
struct Moved {
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> bytes;
  std::set<std::uint32_t> from, to;
  std::string what;  ///< the label below the figure

  void add(std::uint32_t source, std::uint32_t sink, double amount) {
    bytes[{source, sink}] += amount;
  }
};

/// Reads a run's traffic.csv: all tiles and other nodes, in groups if there are many.
Moved moved_in_run(const report::RunFolder& run) {
  Moved moved;
  const auto column = [&](const char* name) -> const auto& { return run.traffic.at(name).values; };
  std::uint32_t together = 1;
  for (std::size_t i = 0; i < run.traffic.rows; ++i) {
    together = static_cast<std::uint32_t>(column("tiles")[i]);
    moved.add(static_cast<std::uint32_t>(column("from_tile")[i]),
              static_cast<std::uint32_t>(column("to_tile")[i]), column("bytes")[i]);
  }
  for (std::uint32_t tile = 0; tile < run.tiles.rows; tile += together) {
    moved.from.insert(tile);
    moved.to.insert(tile);
  }
  if (together > 1) moved.what = fmt::format("groups of {} tiles, by their first", together);
  return moved;
}

/// Reads the transfers to chosen tiles that begin within the window of a trace.
Moved moved_in_trace(const trace::Recording& trace, const Request& request) {
  const TraceView view = view_of(trace, request);
  if (view.tiles.empty())
    throw UserError(
        "{}: holds no tiles, so no transfers between them: tessera run --trace-tiles all",
        trace.file);
  Moved moved;
  moved.to.insert(view.tiles.begin(), view.tiles.end());
  moved.from = moved.to;  // other senders are added below
  for (const std::uint32_t to : view.tiles)
    for (const trace::Recording::Arrival& each : view.tile(to).transfers)
      if (each.begin.count() >= view.from && each.begin.count() < view.to) {
        moved.from.insert(each.from);
        moved.add(each.from, to, static_cast<double>(each.bytes.count()));
      }
  moved.what = fmt::format("transfers begun in cycles {} to {}", view.from, view.to);
  return moved;
}

/// ", 16 on: memory, 20 on: ddr": first ids of nodes besides the tiles; empty if there are none.
std::string classes_of(const Rows& rows) {
  std::string text;
  if (rows.rows.empty()) return text;
  for (const Json& node : rows.rows.front().report.value("nodes", Json::array()))
    text += fmt::format(", {} on: {}", node.at("first_tile").get<std::uint32_t>(),
                        node.at("class").get<std::string>());
  return text;
}

/// The positions of tiles along an axis.
struct MatrixSide {
  std::map<std::uint32_t, std::size_t> places;
  std::vector<std::string> marks;
  std::size_t together = 1;

  explicit MatrixSide(const std::set<std::uint32_t>& tiles)
      : together((tiles.size() + kMostPlaces - 1) / kMostPlaces) {
    for (const std::uint32_t tile : tiles) {
      const std::size_t number = places.size();
      if (number % together == 0) marks.push_back(std::to_string(tile));
      places[tile] = number / together;
    }
  }
};

}  // namespace

/// Draws the bytes from tile (row) to tile (column).
Figure matrix(const Source& source, const Request& request) {
  Moved moved =
      source.trace != nullptr ? moved_in_trace(*source.trace, request) : moved_in_run(*source.run);
  if (moved.bytes.empty())
    throw UserError(
        "{}: found no bytes between tiles, expected some",
        source.trace != nullptr ? source.trace->file : source.run->folder + "/traffic.csv");
  const MatrixSide from(moved.from), to(moved.to);
  std::vector<double> cells(from.marks.size() * to.marks.size());
  for (const auto& [pair, bytes] : moved.bytes)
    cells[from.places.at(pair.first) * to.marks.size() + to.places.at(pair.second)] += bytes;
  const Extent all = extent_of(cells);
  const Extent extent{all.positive, all.most, all.positive};
  const Quantity quantity = quantity_of("traffic.exchange_bytes", extent.most);
  constexpr double kWide = 50;
  Figure figure;
  figure.sheet = sheet_of(request, 0.7);
  const Axis axis = axis_of("cb", wants_log(request, 'z', extent.is_wide(kWide)),
                            extent.times(quantity.scale), figure.sheet);
  figure.csv = "from_tile,to_tile,row,column,bytes\n";
  for (std::size_t row = 0; row < from.marks.size(); ++row)
    for (std::size_t column = 0; column < to.marks.size(); ++column) {
      const double bytes = cells[row * to.marks.size() + column];
      figure.csv += fmt::format("{},{},{},{},{}\n", from.marks[row], to.marks[column], row, column,
                                bytes > 0 ? fmt::format("{}", bytes) : "NaN");
    }
  std::string label = "to tile" + classes_of(source.rows);
  if (from.together > 1 || to.together > 1)
    label += fmt::format("; a cell is {} x {} tiles", from.together, to.together);
  if (!moved.what.empty()) label += "; " + moved.what;
  constexpr double kPlot = 0.65;
  figure.script =
      heading(
          {source.trace != nullptr ? trace_title(source, request) : title_of(source.rows, request),
           label, "from tile"},
          request, figure.sheet) +
      colour_map(quantity.title(), axis, figure.sheet) +
      fmt::format("set xtics ({})\nset ytics ({})\nset xrange [-0.5:{}]\nset yrange [{}:-0.5]\n",
                  thinned_marks(to.marks, kPlot * figure.sheet.width, 6 * figure.sheet.letter()),
                  thinned_marks(from.marks, kPlot * figure.sheet.height, figure.sheet.line()),
                  static_cast<double>(to.marks.size()) - 0.5,
                  static_cast<double>(from.marks.size()) - 0.5) +
      fmt::format("plot data using 4:3:{} with {}\n", axis.drawn(5, quantity.scale),
                  cells_with(cells.size()));
  return figure;
}

}  // namespace tessera::plot
