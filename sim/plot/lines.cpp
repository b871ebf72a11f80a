#include "sim/plot/script.h"

namespace tessera::plot {

/// A quantity along an axis of numbers, a line for each combination of the others.
Figure lines(const Source& source, const Request& given) {
  const Request request = completed(source.rows, given, true);
  const Pivot table = pivot(source.rows, samples_of(source.rows, request.y), request);
  constexpr double kWide = 50;
  const Extent extent = extent_of(table.numbers());
  const Quantity y = shared_quantity(request.y, extent.most);
  Figure figure;
  figure.sheet = sheet_of(request, 0.6);
  figure.csv = table.csv();
  const Axis across =
      x_axis(table, wants_log(request, 'x', is_geometric(table.x_values)), figure.sheet);
  const Axis up = axis_of("y", wants_log(request, 'y', extent.is_wide(kWide)),
                          extent.times(y.scale), figure.sheet);
  figure.script = heading({title_of(source.rows, request), quantity_of(request.x, 0).title(),
                           y.title() + best_note(request), table.key_title},
                          request, figure.sheet) +
                  across.script + up.script + curves(table, across, up, y.scale);
  return figure;
}

}  // namespace tessera::plot
