#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/plot/axis.h"
#include "sim/plot/frame.h"
#include "sim/plot/rows.h"
#include "sim/sweep/tables.h"

namespace tessera::plot {
namespace {

/// A vertical axis; each value has a place from 0 to 1.
struct VerticalAxis {
  std::string path, title;
  bool numeric = true, logarithmic = false;
  Extent extent{};
  double scale = 1;
  std::vector<std::string> words;  ///< text values, bottom first
  std::vector<double> values;      ///< distinct numbers, ascending

  [[nodiscard]] std::optional<double> place(const Row& row) const {
    if (!numeric) {
      const auto found = std::ranges::find(words, text(row, path));
      const auto last = static_cast<double>(words.size()) - 1;
      return last > 0 ? static_cast<double>(found - words.begin()) / last : 0.5;
    }
    const auto value = number(row, path);
    return value ? std::optional(place(*value)) : std::nullopt;
  }
  [[nodiscard]] double place(double value) const {
    if (extent.most <= extent.least) return 0.5;
    if (!logarithmic) return (value - extent.least) / (extent.most - extent.least);
    return std::log(value / extent.least) / std::log(extent.most / extent.least);
  }
};

VerticalAxis upright_of(const Rows& rows, const std::string& path) {
  VerticalAxis made{path, "", is_numeric(rows, path), false, {}, 1, {}, {}};
  std::vector<double> values;
  for (const Row& row : rows.rows) {
    if (const auto value = number(row, path)) values.push_back(*value);
    const std::string word = text(row, path);
    if (!made.numeric) add_once(made.words, word);
  }
  if (made.numeric) made.extent = extent_of(values);
  constexpr double kWide = 20;
  made.logarithmic = made.numeric && made.extent.is_wide(kWide);
  const Quantity quantity = quantity_of(path, made.numeric ? made.extent.most : 0);
  made.title = quantity.title();
  made.scale = quantity.scale;
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  made.values = std::move(values);
  return made;
}

/// The values themselves if few and far enough apart, such as a swept key's; else round numbers.
std::vector<double> marks_of(const VerticalAxis& axis, const Sheet& sheet) {
  const unsigned count = std::min(5U, sheet.marks_up());
  const auto crowded = [&](double a, double b) {
    return axis.place(b) - axis.place(a) < 0.5 / count;
  };
  if (axis.values.size() <= count &&
      std::ranges::adjacent_find(axis.values, crowded) == axis.values.end())
    return axis.values;
  const double low = axis.extent.least * axis.scale, high = axis.extent.most * axis.scale;
  std::vector<double> marks =
      axis.logarithmic ? log_numbers(low, high, count) : round_numbers(low, high, count);
  for (double& mark : marks) mark /= axis.scale;
  return marks;
}

/// One block of lines per run, one line per axis; the best runs come last and are drawn on top.
std::string csv_of(const Rows& rows, const std::vector<VerticalAxis>& axes, const Quantity& y) {
  std::vector<const Row*> order;
  const std::string& path = axes.back().path;
  for (const Row& row : rows.rows) {
    if (number(row, path)) order.push_back(&row);
  }
  if (order.empty()) throw UserError(rows.origin + ": no run has " + path);
  std::ranges::stable_sort(order, [&](const Row* a, const Row* b) {
    return more_is_better(path) ? *number(*a, path) < *number(*b, path)
                                : *number(*a, path) > *number(*b, path);
  });
  std::string csv = fmt::format("axis,place,{},name,value\n", sweep::csv_cell(path));
  for (const Row* row : order) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const auto place = axes[i].place(*row);
      csv += place ? fmt::format("{},{:.6g},", i, *place) : fmt::format("{},NaN,", i);
      csv += fmt::format("{},{},{}\n", *number(*row, path) * y.scale, sweep::csv_cell(axes[i].path),
                         sweep::csv_cell(text(*row, axes[i].path)));
    }
    csv += "\n";
  }
  return csv;
}

std::string mark(const VerticalAxis& axis, std::size_t at, double value) {
  return fmt::format(
      "set label {} at first {},{} right offset -0.5,0 front boxed tc rgb '#222222'\n",
      literal(short_number(value * axis.scale, 3)), at, axis.place(value));
}

/// The line of an axis, and the numbers or texts on it.
std::string axis_script(const VerticalAxis& axis, std::size_t at, const Sheet& sheet) {
  std::string script =
      fmt::format("set arrow from {0},0 to {0},1 nohead lc rgb '#555555' lw 1 front\n", at);
  for (std::size_t i = 0; i < axis.words.size(); ++i) {
    const double up = axis.words.size() > 1
                          ? static_cast<double>(i) / (static_cast<double>(axis.words.size()) - 1)
                          : 0.5;
    script += fmt::format(
        "set label {} at first {},{} right offset -0.5,0 front boxed tc rgb '#222222'\n",
        literal(axis.words[i]), at, up);
  }
  if (!axis.numeric) return script;
  for (const double value : marks_of(axis, sheet)) script += mark(axis, at, value);
  return script;
}

}  // namespace

/// Draws each run as a line through its values on vertical axes: the varying keys, and last y,
/// which also gives the line's colour.
Figure parallel(const Source& source, const Request& given) {
  Request request = given;
  if (request.y.empty()) request.y = {"time.cycles"};
  const Rows& rows = source.rows;
  require_path(rows, request.y.front(), "--y", true);
  require_paths(rows, request.by, "--by", false);
  if (!request.x.empty())
    throw UserError("tessera plot: parallel: --x: allowed none; its axes are those of --by");
  std::vector<VerticalAxis> axes;
  for (const std::string& path : request.by.empty() ? varying(rows) : request.by)
    axes.push_back(upright_of(rows, path));
  for (const std::string& path : request.y) axes.push_back(upright_of(rows, path));
  constexpr std::size_t kFew = 2, kMost = 12;
  if (axes.size() < kFew || axes.size() > kMost)
    throw UserError("{}: parallel: found {} axes, allowed {} to {}; choose with --by", rows.origin,
                    axes.size(), kFew, kMost);
  const VerticalAxis& last = axes.back();
  const Quantity y = quantity_of(last.path, last.extent.most);
  Figure figure;
  const Sheet& sheet = figure.sheet = sheet_of(request, 0.5);
  figure.csv = csv_of(rows, axes, y);
  const Axis shade =
      axis_of("cb", wants_log(request, 'z', last.logarithmic), last.extent.times(y.scale), sheet);
  const double room = 0.75 * sheet.width / static_cast<double>(axes.size());
  std::vector<std::string> names;
  std::string script;
  std::size_t lines = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    lines = std::max(lines, lines_of(axes[i].title, sheet, room));
    names.push_back(fmt::format("{} {}", wrapped(axes[i].title, sheet, room), i));
    script += axis_script(axes[i], i, sheet);
  }
  figure.script = heading({title_of(rows, request)}, request, sheet) +
                  colour_map(y.title() + best_note(request), shade, sheet) +
                  "set style textbox opaque noborder margins 0.2,0.1\n" + script +
                  fmt::format(
                      "set bmargin {}\nset xtics ({})\nunset ytics\nset xrange "
                      "[-0.4:{}]\nset yrange [-0.04:1.04]\n"
                      "plot data using 1:2:3 with lines lc palette lw 1.2 notitle\n",
                      lines + 1, fmt::join(names, ", "), static_cast<double>(axes.size()) - 0.9);
  return figure;
}

}  // namespace tessera::plot
