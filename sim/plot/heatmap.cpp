#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/errors.h"
#include "sim/plot/colour_map.h"
#include "sim/plot/script.h"
#include "sim/sweep/tables.h"

namespace tessera::plot {
namespace {

/// A line a cell: place, value, and black or white for its text.
std::string cells_csv(const Pivot& table, const Quantity& z) {
  const double low = table.smallest(), high = table.largest();
  std::string csv = fmt::format("{},series,column,row,value,bright\n", sweep::csv_cell(table.x));
  for (std::size_t s = 0; s < table.series.size(); ++s) {
    for (std::size_t i = 0; i < table.x_texts.size(); ++i) {
      const auto& value = table.values[i][s];
      csv += fmt::format("{},{},{},{},", sweep::csv_cell(table.x_texts[i]),
                         sweep::csv_cell(table.series[s]), i, s);
      if (!value) {
        csv += "NaN,0\n";
        continue;
      }
      const bool bright = high > low && (*value - low) / (high - low) > 0.55;
      csv += fmt::format("{},{}\n", *value * z.scale, bright ? 1 : 0);
    }
  }
  return csv;
}

/// As many digits behind the point for all, so that they can be compared.
std::string number_format(double largest) {
  if (largest >= 1e5) return "%.2s%c";
  return fmt::format("%.{}f", largest >= 100 ? 0 : largest >= 10 ? 1 : largest >= 1 ? 2 : 3);
}

std::string marks(const std::vector<std::string>& texts) {
  std::vector<std::string> parts;
  const std::size_t step = texts.size() / 24 + 1;
  for (std::size_t i = 0; i < texts.size(); i += step) {
    parts.push_back(fmt::format("{} {}", literal(texts[i]), i));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

/// A quantity by two axes as colours.
Figure heatmap(const Source& source, const Request& given) {
  Request request = completed(source.rows, given, false);
  if (request.by.size() != 1 || request.y.size() != 1) {
    throw UserError(fmt::format(
        "{}: a heatmap has two axes and one quantity; found {} beside {}: give one --by, and "
        "--where for the others",
        source.rows.origin,
        request.by.empty() ? "none" : fmt::format("{}", fmt::join(request.by, ", ")), request.x));
  }
  const Pivot table = pivot(source.rows, samples_of(source.rows, request.y), request);
  const Quantity z = quantity_of(request.y.front(), table.largest());
  const std::size_t cells = table.x_texts.size() * table.series.size();
  constexpr std::size_t kMostTexts = 150;
  const double largest = table.largest() * z.scale;
  const std::string format = number_format(largest);
  Figure figure;
  figure.csv = cells_csv(table, z);
  figure.script =
      heading(title_of(source.rows, request), quantity_of(request.x, 0).title(),
              quantity_of(request.by.front(), 0).title(), "") +
      colour_map(z.title() + best_note(request), table.smallest() * z.scale, largest) +
      fmt::format("set xtics ({})\nset ytics ({})\nset xrange [-0.5:{}]\nset yrange [-0.5:{}]\n",
                  marks(table.x_texts), marks(table.series),
                  static_cast<double>(table.x_texts.size()) - 0.5,
                  static_cast<double>(table.series.size()) - 0.5) +
      fmt::format("plot data using 3:4:5 with {}", cells_with(cells));
  if (cells <= kMostTexts) {
    figure.script += fmt::format(
        ", \\\n  data using 3:4:($5 == $5 ? gprintf('{0}', $5) : ''):($6 == 1 ? 0x000000 : "
        "0xffffff) with labels font ',10' tc rgb variable",
        format);
  }
  figure.script += "\n";
  return figure;
}

}  // namespace tessera::plot
