#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/errors.h"
#include "sim/plot/axis.h"
#include "sim/plot/script.h"
#include "sim/sweep/tables.h"

namespace tessera::plot {
namespace {

constexpr double kPlotShare = 0.68;  // share of the sheet's width and height

/// The number of decimals depends on `largest` only, so that values can be compared.
std::string shown(double value, double largest) {
  constexpr double kShort = 1e5;
  if (largest >= kShort) return short_number(value, 3);
  return fmt::format("{:.{}f}", value,
                     largest >= 100  ? 0
                     : largest >= 10 ? 1
                     : largest >= 1  ? 2
                                     : 3);
}

/// One line per cell: place, value, whether it is bright, whether its point cannot run, its text.
std::string cells_csv(const Pivot& table, const Quantity& z, const Axis& axis, double largest) {
  std::string csv =
      fmt::format("{},series,column,row,value,bright,infeasible,text\n", sweep::csv_cell(table.x));
  for (std::size_t s = 0; s < table.series.size(); ++s) {
    for (std::size_t i = 0; i < table.x_texts.size(); ++i) {
      const auto& value = table.values[i][s];
      csv += fmt::format("{},{},{},{},", sweep::csv_cell(table.x_texts[i]),
                         sweep::csv_cell(table.series[s]), i, s);
      if (!value) {
        csv += fmt::format("NaN,0,{},\n", table.infeasible[i][s] ? 1 : 0);
        continue;
      }
      const double drawn = *value * z.scale;
      csv += fmt::format("{},{},0,{}\n", drawn, is_bright(axis.place(drawn)) ? 1 : 0,
                         shown(drawn, largest));
    }
  }
  return csv;
}

std::string marks_of(const Pivot& table, const Sheet& sheet) {
  return fmt::format("set xtics ({})\nset ytics ({})\nset xrange [-0.5:{}]\nset yrange [-0.5:{}]\n",
                     thinned_marks(table.x_texts, kPlotShare * sheet.width,
                                   sheet.widest(table.x_texts) + sheet.letter()),
                     thinned_marks(table.series, kPlotShare * sheet.height, sheet.line()),
                     static_cast<double>(table.x_texts.size()) - 0.5,
                     static_cast<double>(table.series.size()) - 0.5);
}

/// Labels with the numbers of the cells, if they are large enough to read.
std::string texts_of(const Pivot& table, const Sheet& sheet, double scale, double largest) {
  constexpr double kLeastSize = 4.5, kFull = 0.85, kDigit = 1.17;  // in letter sizes
  std::size_t letters = 1;
  for (const double value : table.numbers())
    letters = std::max(letters, shown(value * scale, largest).size());
  const double across = kPlotShare * sheet.width / static_cast<double>(table.x_texts.size());
  const double up = kPlotShare * sheet.height / static_cast<double>(table.series.size());
  const double wide = kDigit * sheet.letter() * static_cast<double>(letters);
  const double size =
      sheet.size * std::min({1.0, kFull * across / wide, kFull * up / sheet.line()});
  if (size < kLeastSize) return "";
  return fmt::format(
      ", \\\n  data using 3:4:(strcol(8)):($6 == 1 ? 0x000000 : 0xffffff) with labels font {} tc "
      "rgb "
      "variable notitle",
      font_of(size));
}

std::string infeasible_of(const Pivot& table) {
  if (!table.has_infeasible()) return "";
  return ", \\\n  data using ($7 == 1 ? $3 : NaN):4 with points pt 2 ps 0.9 lw 1 lc rgb '#999999' "
         "title 'cannot run'";
}

}  // namespace

/// Draws a quantity by two axes as colours.
Figure heatmap(const Source& source, const Request& given) {
  Request request = completed(source.rows, given, false);
  if (request.by.size() != 1 || request.y.size() != 1) {
    throw UserError(
        "{}: a heatmap has two axes and one quantity; found {} beside {}: give one --by, and "
        "--where for the others",
        source.rows.origin,
        request.by.empty() ? "none" : fmt::format("{}", fmt::join(request.by, ", ")), request.x);
  }
  const Pivot table = pivot(source.rows, samples_of(source.rows, request.y), request);
  const Extent extent = extent_of(table.numbers());
  const Quantity z = quantity_of(request.y.front(), extent.most);
  const double largest = extent.most * z.scale;
  constexpr double kWide = 50;
  Figure figure;
  figure.sheet = sheet_of(request, 0.6);
  const Axis axis = axis_of("cb", wants_log(request, 'z', extent.is_wide(kWide)),
                            extent.times(z.scale), figure.sheet);
  figure.csv = cells_csv(table, z, axis, largest);
  figure.script = heading({title_of(source.rows, request), x_title(source.rows, request),
                           quantity_of(request.by.front(), 0).title()},
                          request, figure.sheet) +
                  colour_map(z.title() + best_note(request), axis, figure.sheet) +
                  marks_of(table, figure.sheet) +
                  (table.has_infeasible() ? "set key tmargin right horizontal\n" : "") +
                  fmt::format("plot data using 3:4:{} with {} notitle", axis.drawn(5, 1),
                              cells_with(table.x_texts.size() * table.series.size())) +
                  texts_of(table, figure.sheet, z.scale, largest) + infeasible_of(table) + "\n";
  return figure;
}

}  // namespace tessera::plot
