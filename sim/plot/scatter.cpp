#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/plot/axis.h"
#include "sim/plot/rows.h"
#include "sim/plot/script.h"
#include "sim/sweep/tables.h"

namespace tessera::plot {
namespace {

struct Point {
  double x, y;
  std::string series;  ///< series that selects its colour
  std::optional<double> colour;
};

/// The path that chooses colours: the request's, else the first varying axis of texts, else the
/// numeric axis with most values.
std::string chosen_colour(const Rows& rows, const Request& request) {
  if (!request.by.empty()) return request.by.front();
  std::string best;
  std::size_t most = 0;
  for (const std::string& path : varying(rows)) {
    if (path == request.x) continue;
    if (!is_numeric(rows, path)) return path;
    const std::size_t values = distinct(rows, path);
    if (values <= most) continue;
    most = values;
    best = path;
  }
  return best;
}

std::vector<Point> points_of(const Rows& rows, const Request& request, const std::string& by) {
  std::vector<Point> points;
  for (const Row& row : rows.rows) {
    const auto x = number(row, request.x), y = number(row, request.y.front());
    if (!x || !y) continue;
    points.push_back(
        {*x, *y, by.empty() ? "" : text(row, by), by.empty() ? std::nullopt : number(row, by)});
  }
  if (points.empty()) throw UserError(rows.origin + ": no run has both quantities");
  return points;
}

/// Series in order: numbers ascending, texts in order of appearance.
std::vector<std::string> series_of(std::vector<Point> points) {
  std::ranges::stable_sort(points, {}, &Point::colour);
  std::vector<std::string> series;
  for (const Point& each : points) add_once(series, each.series);
  return series;
}

std::string csv_of(const std::vector<Point>& points, const std::vector<std::string>& series,
                   const Request& request, const std::string& by) {
  std::string csv = sweep::csv_cell(request.x) + "," + sweep::csv_cell(request.y.front());
  csv += by.empty() ? "\n" : fmt::format(",{},series\n", sweep::csv_cell(by));
  for (const Point& each : points) {
    csv += fmt::format("{},{}", each.x, each.y);
    if (!by.empty())
      csv += fmt::format(
          ",{},{}", each.colour ? fmt::format("{}", *each.colour) : sweep::csv_cell(each.series),
          std::ranges::find(series, each.series) - series.begin());
    csv += "\n";
  }
  return csv;
}

/// One colour and mark per series.
std::string plot_series(const std::vector<std::string>& series, const std::string& x,
                        const std::string& y) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const std::string own = series.size() == 1 ? x : fmt::format("($4=={}?{}:NaN)", i, x);
    parts.push_back(fmt::format("  data using {}:{} with points {} title {}", own, y, line_style(i),
                                literal(series[i])));
  }
  return fmt::format("plot \\\n{}\n", fmt::join(parts, ", \\\n"));
}

}  // namespace

/// Draws two quantities of each run as a point, coloured by a third.
Figure scatter(const Source& source, const Request& given) {
  Request request = completed(source.rows, given, true);
  request.by = given.by;
  const std::string by = chosen_colour(source.rows, request);
  const std::vector<Point> points = points_of(source.rows, request, by);
  const Extent in_x = extent_of(mapped(points, &Point::x)),
               in_y = extent_of(mapped(points, &Point::y));
  const Extent in_z =
      extent_of(mapped(points, [](const Point& each) { return each.colour.value_or(0); }));
  const Quantity x = quantity_of(request.x, in_x.most);
  const Quantity y = quantity_of(request.y.front(), in_y.most), z = quantity_of(by, in_z.most);
  const std::vector<std::string> series = series_of(points);
  constexpr std::size_t kMostSeries = 7;
  const bool by_scale = series.size() > kMostSeries && is_numeric(source.rows, by);
  Figure figure;
  const Sheet& sheet = figure.sheet = sheet_of(request, 0.6);
  figure.csv = csv_of(points, series, request, by);
  constexpr double kWide = 20;
  const auto axis = [&](const char* name, char letter, const Extent& extent, double scale) {
    return axis_of(name, wants_log(request, letter, extent.is_wide(kWide)), extent.times(scale),
                   sheet);
  };
  const Axis across = axis("x", 'x', in_x, x.scale), up = axis("y", 'y', in_y, y.scale);
  figure.script = heading({title_of(source.rows, request), x.title(),
                           y.title() + best_note(request), by.empty() || by_scale ? "" : z.title()},
                          request, sheet) +
                  across.script + up.script;
  const std::string at_x = across.drawn(1, x.scale), at_y = up.drawn(2, y.scale);
  if (!by_scale) {
    figure.script += plot_series(series, at_x, at_y);
    return figure;
  }
  const Axis shade = axis("cb", 'z', in_z, z.scale);
  figure.script +=
      colours(z.title(), shade, sheet) +
      fmt::format("plot data using {}:{}:{} with points pt 7 ps 0.8 lc palette notitle\n", at_x,
                  at_y, shade.drawn(3, z.scale));
  return figure;
}

}  // namespace tessera::plot
