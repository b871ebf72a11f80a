#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/plot/figure.h"
#include "sim/plot/script.h"

namespace tessera::plot {

namespace {

/// Crosses in place of bars whose configs cannot run.
std::string crosses(const Pivot& table) {
  std::string script;
  const auto bars = static_cast<double>(table.series.size());
  for (std::size_t i = 0; i < table.x_texts.size(); ++i) {
    for (std::size_t s = 0; s < table.series.size(); ++s) {
      if (!table.infeasible[i][s]) continue;
      // Clusters are one bar's width apart.
      const double at =
          static_cast<double>(i) + (static_cast<double>(s) - (bars - 1) / 2) / (bars + 1);
      script += fmt::format(
          "set label '' at first {},graph 0.03 point pt 2 ps 0.7 lc rgb '#888888'\n", at);
    }
  }
  return script;
}

}  // namespace

std::span<const Kind> kinds() {
  constexpr const char* kTime = "time.cycles";
  static constexpr std::array kKinds = {
      Kind{"lines", Needs::runs, kTime, "xy", "x y by best where", lines},
      Kind{"bars", Needs::runs, kTime, "y", "x y by best where", bars},
      Kind{"stacked", Needs::runs, kTime, "", "x y by best where", stacked},
      Kind{"comparison", Needs::runs, kTime, "", "y by best where", comparison},
      Kind{"heatmap", Needs::runs, kTime, "z", "x y by best where", heatmap},
      Kind{"scatter", Needs::runs, kTime, "xyz", "x y by best where", scatter},
      Kind{"parallel", Needs::runs, kTime, "z", "x y by best where", parallel},
      Kind{"speedup", Needs::runs, kTime, "xy", "x y by best where baseline", speedup},
      Kind{"pareto", Needs::runs, kTime, "xy", "x y by best where", pareto},
      Kind{"roofline", Needs::runs, "rate.useful_flops_per_second", "", "by best where", roofline},
      Kind{"tornado", Needs::sensitivity, "time", "", "y", tornado},
      Kind{"timeline", Needs::run_or_trace, kTime, "", "", timeline},
      Kind{"utilisation", Needs::trace, "", "", "", utilisation},
      Kind{"traffic", Needs::trace, "", "", "", traffic},
      Kind{"matrix", Needs::run_or_trace, "", "z", "", matrix},
      Kind{"training", Needs::one_run, "results.loss", "", "", training},
      Kind{"stages", Needs::one_run, "stages", "", "", stages},
      Kind{"raster", Needs::one_run, "results.layers", "", "sample", raster},
      Kind{"tiles", Needs::one_run, "compute_cycles", "z", "y", tiles}};
  return kKinds;
}

/// Draws a quantity over a numeric axis, one line for each combination of the other axes.
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
  figure.script = heading({title_of(source.rows, request), x_title(source.rows, request),
                           y.title() + best_note(request), table.key_title},
                          request, figure.sheet) +
                  across.script + up.script + curves(table, across, up, y.scale);
  return figure;
}

/// Draws a quantity as groups of bars, one group for each value of an axis.
Figure bars(const Source& source, const Request& given) {
  const Request request = completed(source.rows, given, false);
  const Pivot table = pivot(source.rows, samples_of(source.rows, request.y), request);
  const Extent extent = extent_of(table.numbers());
  const Quantity y = shared_quantity(request.y, extent.most);
  std::vector<std::string> marks, parts;
  const Sheet sheet = sheet_of(request, 0.6);
  const double room = 0.7 * sheet.width / static_cast<double>(table.x_texts.size());
  const std::vector<std::string> names = short_names(table.x_texts);
  for (std::size_t i = 0; i < names.size(); ++i)
    marks.push_back(fmt::format("{} {}", literal(names[i]), i));
  const Axis up = axis_of("y", wants_log(request, 'y', false), extent.times(y.scale), sheet);
  for (std::size_t i = 0; i < table.series.size(); ++i) {
    parts.push_back(fmt::format("  data using {} {} title {}", up.drawn(i + 2, y.scale),
                                fill_style(i), literal(table.series[i])));
  }
  if (table.has_infeasible())
    parts.push_back("  keyentry with points pt 2 ps 0.7 lc rgb '#888888' title 'cannot run'");
  Figure figure;
  figure.sheet = sheet;
  figure.csv = table.csv();
  figure.script =
      heading({title_of(source.rows, request), x_title(source.rows, request),
               y.title() + best_note(request), table.key_title},
              request, sheet) +
      up.script + crosses(table) +
      fmt::format(
          "set style data histograms\nset style histogram clustered gap 1\n"
          "set boxwidth 0.92 relative\nset xtics scale 0 {}({})\nset xrange [-0.6:{}]\n"
          "plot \\\n{}\n",
          sheet.widest(names) > room ? "rotate by 35 right " : "", fmt::join(marks, ", "),
          static_cast<double>(table.x_texts.size()) - 0.4, fmt::join(parts, ", \\\n"));
  return figure;
}

}  // namespace tessera::plot
