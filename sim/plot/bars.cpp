#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/plot/script.h"

namespace tessera::plot {

/// A quantity in groups of bars, a group for each value of an axis.
Figure bars(const Source& source, const Request& given) {
  const Request request = completed(source.rows, given, false);
  const Pivot table = pivot(source.rows, samples_of(source.rows, request.y), request);
  const Quantity y = quantity_of(request.y.front(), table.largest());
  const bool logarithmic = wants_log(request, 'y', false);
  std::vector<std::string> marks, parts;
  for (std::size_t i = 0; i < table.x_texts.size(); ++i) {
    marks.push_back(fmt::format("{} {}", literal(table.x_texts[i]), i));
  }
  for (std::size_t i = 0; i < table.series.size(); ++i) {
    parts.push_back(fmt::format("  data using (${}*{}) lc rgb '{}' fs {} title {}", i + 2, y.scale,
                                colour(i), i < 7 ? "solid 0.9" : "pattern 1",
                                literal(table.series[i])));
  }
  Figure figure;
  figure.csv = table.csv();
  figure.script =
      heading(title_of(source.rows, request), quantity_of(request.x, 0).title(),
              (request.y.size() > 1 ? y.unit : y.title()) + best_note(request), table.key_title) +
      y_axis(logarithmic, table.smallest() * y.scale, table.largest() * y.scale) +
      fmt::format(
          "set style data histograms\nset style histogram clustered gap 1\n"
          "set boxwidth 0.92 relative\nset xtics scale 0 ({})\nset xrange [-0.6:{}]\nplot \\\n{}\n",
          fmt::join(marks, ", "), static_cast<double>(table.x_texts.size()) - 0.4,
          fmt::join(parts, ", \\\n"));
  return figure;
}

}  // namespace tessera::plot
