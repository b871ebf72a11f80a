#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/plot/bar_groups.h"
#include "sim/plot/pivot.h"

namespace tessera::plot {
namespace {

constexpr const char* kClock = "machine.clock_ghz";

bool tell_apart(const std::vector<std::string>& names) {
  return std::set<std::string>(names.begin(), names.end()).size() == names.size() &&
         !contains(names, "");
}

/// The shortest distinct names of the runs: the machine, one axis, the folder, or all varying axes;
/// else their numbers.
std::vector<std::string> names_of(const Rows& rows, const std::vector<std::string>& by) {
  const auto by_axes = [&](const std::vector<std::string>& axes) {
    return mapped(rows.rows, [&](const Row& row) { return series_label(row, axes); });
  };
  if (!by.empty()) return by_axes(by);
  std::vector<std::string> names =
      mapped(rows.rows, [](const Row& row) { return text(row, "machine.name"); });
  for (auto path = rows.axes.begin(); path != rows.axes.end() && !tell_apart(names); ++path)
    names = short_names(mapped(rows.rows, [&](const Row& row) { return named_value(row, *path); }));
  if (!tell_apart(names))
    names = mapped(rows.rows, [](const Row& row) {
      return std::filesystem::path(text(row, "folder")).lexically_normal().filename().string();
    });
  if (!tell_apart(names)) names = by_axes(varying(rows));
  if (tell_apart(names)) return names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = fmt::format("{}", i + 1);
  return names;
}

bool differ(const Rows& rows, const std::string& path) {
  return std::ranges::any_of(
      rows.rows, [&](const Row& row) { return text(row, path) != text(rows.rows.front(), path); });
}

/// "clocks differ", "problems differ": a remark that lists each run's value.
std::string remark_on(const Rows& rows, const std::vector<std::string>& names, const char* what,
                      const std::string& path, const char* unit) {
  std::vector<std::string> each;
  each.reserve(names.size());
  for (std::size_t i = 0; i < names.size(); ++i)
    each.push_back(fmt::format("{} {}{}", names[i], text(rows.rows[i], path), unit));
  return fmt::format("comparison: {} differ ({})", what, fmt::join(each, "; "));
}

/// One bar per run; with `as_seconds`, cycles become seconds by each run's clock.
BarChart chart_of(const Rows& rows, const std::vector<std::string>& paths,
                  const std::vector<std::string>& names, bool as_seconds) {
  constexpr double kGiga = 1e9;
  BarChart chart{"", "run", looks_of(paths), {BarGroup{"", {}}}};
  if (paths.size() == 1) chart.parts.front().name = quantity_of(paths.front(), 0).label;
  double first = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    Bar& bar = chart.groups.front().bars.emplace_back();
    bar.name = names[i];
    const double clock = as_seconds ? number(rows.rows[i], kClock).value_or(0) * kGiga : 1;
    bar.parts = mapped(paths, [&](const std::string& path) {
      return number(rows.rows[i], path).value_or(0) / clock;
    });
    if (i == 0) first = bar.height();
    if (first > 0) bar.above = fmt::format("{:.2f}x", bar.height() / first);
  }
  return chart;
}

}  // namespace

/// One bar per run, in the given order, for a quantity or the parts of a section, with its ratio to
/// the first run. Cycles of different clocks are shown in seconds.
Figure comparison(const Source& source, const Request& given) {
  const Rows& rows = source.rows;
  require_paths(rows, given.by, "--by", false);
  const std::vector<std::string> y = given.y.empty() ? std::vector<std::string>{"time"} : given.y;
  const std::vector<std::string> parts = stacked_paths(rows, y);
  const std::vector<std::string> paths = parts.empty() ? y : parts;
  const std::vector<std::string> names = names_of(rows, given.by);
  const bool as_seconds = differ(rows, kClock) && unit_of(paths.front()).text == "cycles";
  const BarChart chart = chart_of(rows, paths, names, as_seconds);
  Quantity label = shared_quantity(paths, chart.highest());
  if (as_seconds) label = quantity_of("time.seconds", chart.highest());
  if (paths.size() > 1) label.label = y.size() == 1 ? section_of(y.front()) : "";
  Figure figure = draw_groups(
      chart, {title_of(rows, given), "above: ratio to " + names.front(), label.title(), ""}, given,
      label);
  if (as_seconds)
    figure.remarks.push_back(remark_on(rows, names, "clocks", kClock, " GHz") +
                             ": cycles are drawn as seconds");
  if (differ(rows, "identity.problem"))
    figure.remarks.push_back(remark_on(rows, names, "problems", "identity.problem", ""));
  return figure;
}

}  // namespace tessera::plot
