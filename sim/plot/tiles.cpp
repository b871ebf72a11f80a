#include <cmath>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/config/nearest.h"
#include "sim/plot/axis.h"
#include "sim/plot/script.h"

namespace tessera::plot {
namespace {

/// A column of tiles.csv. Throws UserError, with the nearest name, if it does not exist.
const report::Column& column_of(const report::RunFolder& run, const std::string& name) {
  if (const report::Column* column = run.tiles.find(name)) return *column;
  const auto known = mapped(run.tiles.columns, [](const report::Column& column) {
    return std::string_view(column.name);
  });
  throw UserError("{}/tiles.csv: found no column {}, allowed {}", run.folder, name,
                  config::names_near(name, known));
}

/// Columns of a map wider than high, if possible without an incomplete row.
std::size_t chosen_columns(std::size_t tiles) {
  const double side = std::sqrt(static_cast<double>(tiles));
  const auto narrow = static_cast<std::size_t>(std::ceil(1.1 * side));
  const auto wide = static_cast<std::size_t>(std::ceil(1.7 * side));
  for (std::size_t columns = narrow; columns <= wide; ++columns) {
    if (tiles % columns == 0) return columns;
  }
  return wide;
}

}  // namespace

/// Draws a number of each tile as a map; tiles in order of number, row by row.
Figure tiles(const Source& source, const Request& request) {
  const report::RunFolder& run = *source.run;
  const std::string name = request.y.empty() ? "compute_cycles" : request.y.front();
  const report::Column& column = column_of(run, name);
  const auto count = column.values.size();
  if (count == 0) throw UserError(run.folder + "/tiles.csv: has no tile");
  const auto& fabric = run.report.at("config").at("machine").at("fabric");
  std::size_t across = fabric.value("columns", std::size_t(1));
  if (across <= 1) across = chosen_columns(count);
  const std::size_t rows = (count + across - 1) / across;
  const Extent extent = extent_of(column.values);
  const Quantity quantity = quantity_of(name, extent.most);
  Figure figure;
  figure.sheet = sheet_of(request, 0.6);
  const Axis axis =
      axis_of("cb", wants_log(request, 'z', false), extent.times(quantity.scale), figure.sheet);
  figure.csv = fmt::format("tile,column,row,{}\n", name);
  for (std::size_t i = 0; i < across * rows; ++i) {
    figure.csv += fmt::format("{},{},{},", i, i % across, i / across);
    figure.csv += i < count ? fmt::format("{}\n", column.values[i]) : "NaN\n";
  }
  figure.script =
      heading({title_of(source.rows, request), fmt::format("tile, {} in a row", across)}, request,
              figure.sheet) +
      colour_map(quantity.title(), axis, figure.sheet) +
      fmt::format(
          "set xrange [-0.5:{}]\nset yrange [{}:-0.5]\nunset xtics\nset ytics ({}{})\n"
          "plot data using 2:3:{} with {}\n",
          static_cast<double>(across) - 0.5, static_cast<double>(rows) - 0.5, "'0' 0",
          rows > 1 ? fmt::format(", '{}' {}", (rows - 1) * across, rows - 1) : "",
          axis.drawn(4, quantity.scale), cells_with(across * rows));
  return figure;
}

}  // namespace tessera::plot
