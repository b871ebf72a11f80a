#include "sim/plot/script.h"

namespace tessera::plot {

/// A quantity along an axis of numbers, a line for each combination of the others.
Figure lines(const Source& source, const Request& given) {
  const Request request = completed(source.rows, given, true);
  const Pivot table = pivot(source.rows, samples_of(source.rows, request.y), request);
  constexpr double kWide = 50;  // from here on zero as the origin hides the small values
  const bool spread = table.smallest() > 0 && table.largest() > kWide * table.smallest();
  const Quantity y = quantity_of(request.y.front(), table.largest());
  const bool log_y = wants_log(request, 'y', spread);
  Figure figure;
  figure.csv = table.csv();
  figure.script =
      heading(title_of(source.rows, request), quantity_of(request.x, 0).title(),
              (request.y.size() > 1 ? y.unit : y.title()) + best_note(request), table.key_title) +
      x_axis(table, wants_log(request, 'x', is_geometric(table.x_values))) +
      y_axis(log_y, table.smallest() * y.scale, table.largest() * y.scale) + curves(table, y.scale);
  return figure;
}

}  // namespace tessera::plot
