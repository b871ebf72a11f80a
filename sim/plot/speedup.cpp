#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/counted.h"
#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/plot/script.h"

namespace tessera::plot {
namespace {

/// True if the point sets the axis, rather than leaving the config's default. For runs, the axes
/// are the differences between their configs.
bool sets(const Row& row, const std::string& path) {
  if (row.axes.empty()) return find(row, path) != nullptr;
  const auto axis = row.axes.find(path);
  return axis != row.axes.end() && !axis->is_null();
}

/// True if run and baseline agree in all axes except `apart`; an axis that the baseline does not
/// set matches all.
bool belongs(const Row& base, const Row& row, const Rows& rows,
             const std::vector<std::string>& apart) {
  return std::ranges::all_of(rows.axes, [&](const std::string& path) {
    if (contains(apart, path)) return true;
    return !sets(base, path) || text(base, path) == text(row, path);
  });
}

constexpr const char* kNoBreak = "\u00a0";

std::string path_of(const std::string& condition) {
  return condition.substr(0, condition.find('='));
}

/// Speed-ups of `rows` over their baselines; skips rows without one.
std::vector<Sample> samples_over(const Rows& base, const Rows& rows, const std::string& y,
                                 const std::vector<std::string>& apart) {
  std::vector<Sample> samples;
  for (const Row& row : rows.rows) {
    const auto match = std::ranges::find_if(
        base.rows, [&](const Row& each) { return belongs(each, row, rows, apart); });
    const auto own = number(row, y);
    const auto its = match == base.rows.end() ? std::nullopt : number(*match, y);
    if (!own || !its || *own <= 0 || *its <= 0) continue;
    samples.push_back({&row, "", more_is_better(y) ? *own / *its : *its / *own});
  }
  if (samples.empty()) throw UserError(rows.origin + ": no run has one of the baseline beside it");
  return samples;
}

/// The rows outside the baseline, which is drawn as the line at 1.
Rows without(const Row& base, const Rows& rows, const std::vector<std::string>& apart) {
  Rows others = rows;
  std::erase_if(others.rows, [&](const Row& row) {
    return std::ranges::all_of(
        apart, [&](const std::string& path) { return text(row, path) == text(base, path); });
  });
  if (others.rows.empty()) throw UserError(rows.origin + ": all runs are of the baseline");
  return others;
}

/// The baseline: its conditions, and whether it is a point of x.
struct Base {
  std::vector<std::string> conditions, paths;
  std::vector<std::string> apart{};  ///< `paths` and the axes that vary with them
  Rows rows{};
  bool on_x = false;  ///< it is a point of x: the lines begin there, at 1
};

Base base_at(const Rows& rows, const std::vector<std::string>& conditions) {
  Base base{conditions, {}};
  for (const std::string& condition : conditions) base.paths.push_back(path_of(condition));
  base.rows = rows.where(conditions);
  base.apart = base.paths;
  for (const std::string& axis : rows.axes)
    for (const std::string& path : base.paths)
      if (follows(rows, axis, path) && follows(rows, path, axis)) add_once(base.apart, axis);
  return base;
}

/// The requested baseline, or else the first value of x that serves most runs.
Base base_of(const Rows& rows, const Request& given) {
  if (!given.baseline.empty()) return base_at(rows, given.baseline);
  const Request request = completed(rows, given, true);
  std::map<double, std::string> values;
  for (const Row& row : rows.rows)
    if (const auto value = number(row, request.x)) values[*value] = text(row, request.x);
  Base best;
  std::size_t most = 0;
  for (const auto& [place, value] : values) {
    Base base = base_at(rows, {fmt::format("{}={}", request.x, value)});
    const std::size_t found = samples_over(base.rows, rows, request.y.front(), base.apart).size();
    if (found <= most) continue;
    most = found;
    best = std::move(base);
  }
  return best;
}

/// "machine.tiles = 64", or "gemm" for a text value. `gap`: around the equals sign.
std::string name_of(const Base& base, const char* gap = " ") {
  std::vector<std::string> names;
  for (const std::string& path : base.paths) {
    const std::string value = text(base.rows.rows.front(), path);
    names.push_back(number(base.rows.rows.front(), path)
                        ? fmt::format("{0}{1}={1}{2}", path, gap, value)
                        : value);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// "speed-up" for times and rates; for other quantities "gain in" their label.
std::string gain_of(const std::string& y) {
  const std::string unit = quantity_of(y, 0).unit;
  if (unit.ends_with("cycles") || unit.ends_with("s")) return "speed-up over ";
  return fmt::format("gain in {} over ", quantity_of(y, 0).label);
}

/// Ideal scaling with a resource: the line x / (baseline's x).
std::string ideal_curve(const Request& request, const Base& base, const Axis& x, const Axis& y) {
  const auto at = number(base.rows.rows.front(), request.x);
  if (!base.on_x || !at || *at <= 0 || !is_resource(request.x)) return "";
  const double low = std::max(x.low, y.logarithmic ? y.low * *at : 0);
  const double high = std::min(x.high, y.high * *at);
  return fmt::format(
      ", \\\n  [x={}:{}] '+' using (x):(x/{}) with lines lc rgb '#333333' dt 3 lw 2.5 title "
      "'ideal'",
      low, high, *at);
}

std::vector<std::string> remarks_on(const Base& base, bool chosen, const Rows& others,
                                    std::size_t drawn) {
  std::vector<std::string> remarks;
  if (chosen)
    remarks.push_back(
        fmt::format("speedup: over {}: --baseline path=value chooses another base", name_of(base)));
  if (drawn < others.rows.size())
    remarks.push_back(fmt::format("left out: {} without a run of {} that is else the same",
                                  counted(others.rows.size() - drawn, "point"), name_of(base)));
  return remarks;
}

}  // namespace

/// Draws the speed-up of runs over a baseline, along an axis. If the baseline is a point of that
/// axis and the axis a resource, adds the line of ideal scaling.
Figure speedup(const Source& source, const Request& given) {
  Base base = base_of(source.rows, given);
  Rows others = source.rows;
  Request request = completed(others, given, true);
  base.on_x = contains(base.paths, request.x);
  if (!base.on_x) {
    others = without(base.rows.rows.front(), source.rows, base.paths);
    request = completed(others, given, true);
  }
  const std::vector<Sample> samples =
      samples_over(base.rows, others, request.y.front(), base.apart);
  const Pivot table = pivot(others, samples, request);
  const Extent extent = extent_of(table.numbers());
  const double least = std::min(extent.least, 1.0), most = std::max(extent.most, 1.0);
  constexpr double kWide = 20;
  Figure figure;
  constexpr double kTall = 0.76;  // for a narrow one, whose label names the base
  figure.sheet = sheet_of(request, request.sheet.is_narrow() ? kTall : 0.6);
  figure.csv = table.csv();
  const Axis across =
      x_axis(table, wants_log(request, 'x', is_geometric(table.x_values)), figure.sheet);
  const Axis up = axis_of("y", wants_log(request, 'y', most > kWide * least), {least, most, least},
                          figure.sheet);
  std::string drawn = curves(table, across, up, 1);
  drawn.insert(drawn.size() - 1, ideal_curve(request, base, across, up));
  figure.remarks = remarks_on(base, given.baseline.empty(), others, samples.size());
  figure.script =
      heading({title_of(others, request), x_title(others, request),
               gain_of(request.y.front()) + name_of(base, kNoBreak) + best_note(request),
               table.key_title},
              request, figure.sheet) +
      across.script + up.script +
      "set arrow from graph 0, first 1 to graph 1, first 1 nohead lc rgb '#888888' lw 1.5 dt 2\n" +
      drawn;
  return figure;
}

}  // namespace tessera::plot
