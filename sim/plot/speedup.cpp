#include <algorithm>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/plot/script.h"

namespace tessera::plot {
namespace {

/// Whether an axis has a value of its own at this point, not only what its config is left at. Of
/// runs the axes are what differs between their configs.
bool sets(const Row& row, const std::string& path) {
  if (row.axes.empty()) return find(row, path) != nullptr;
  const auto axis = row.axes.find(path);
  return axis != row.axes.end() && !axis->is_null();
}

/// The axes of a run but for those that single the baseline out; what a baseline does not set
/// matches all.
bool belongs(const Row& base, const Row& row, const Rows& rows,
             const std::vector<std::string>& apart) {
  return std::all_of(rows.axes.begin(), rows.axes.end(), [&](const std::string& path) {
    if (std::find(apart.begin(), apart.end(), path) != apart.end()) return true;
    return !sets(base, path) || text(base, path) == text(row, path);
  });
}

std::string path_of(const std::string& condition) {
  return condition.substr(0, condition.find('='));
}

/// Speed-ups of `rows` over those of `base` beside them; none where there is none.
std::vector<Sample> samples_over(const Rows& base, const Rows& rows, const std::string& y,
                                 const std::vector<std::string>& apart) {
  std::vector<Sample> samples;
  for (const Row& row : rows.rows) {
    const auto match = std::find_if(base.rows.begin(), base.rows.end(), [&](const Row& each) {
      return belongs(each, row, rows, apart);
    });
    const auto own = number(row, y);
    const auto its = match == base.rows.end() ? std::nullopt : number(*match, y);
    if (!own || !its || *own <= 0 || *its <= 0) continue;
    samples.push_back({&row, "", more_is_better(y) ? *own / *its : *its / *own});
  }
  if (samples.empty()) throw UserError(rows.origin + ": no run has one of the baseline beside it");
  return samples;
}

/// The rows that are not of the baseline, which is drawn as the line at 1.
Rows without(const Row& base, const Rows& rows, const std::vector<std::string>& apart) {
  Rows others = rows;
  std::erase_if(others.rows, [&](const Row& row) {
    return std::all_of(apart.begin(), apart.end(), [&](const std::string& path) {
      return text(row, path) == text(base, path);
    });
  });
  if (others.rows.empty()) throw UserError(rows.origin + ": all runs are of the baseline");
  return others;
}

}  // namespace

/// How many times faster runs are than those of a baseline, along an axis.
Figure speedup(const Source& source, const Request& given) {
  if (given.baseline.empty()) {
    throw UserError(
        "tessera plot: speedup: --baseline path=value is needed, for example "
        "--baseline workload.kernel=gemm");
  }
  const Rows base = source.rows.where(given.baseline);
  std::vector<std::string> apart;
  for (const std::string& condition : given.baseline) apart.push_back(path_of(condition));
  const Rows others = without(base.rows.front(), source.rows, apart);
  const Request request = completed(others, given, true);
  const Pivot table = pivot(others, samples_over(base, others, request.y.front(), apart), request);
  const double least = std::min(table.smallest(), 1.0), most = std::max(table.largest(), 1.0);
  constexpr double kWide = 20;
  Figure figure;
  figure.sheet = sheet_of(request, 0.6);
  figure.csv = table.csv();
  const Axis across =
      x_axis(table, wants_log(request, 'x', is_geometric(table.x_values)), figure.sheet);
  const Axis up = axis_of("y", wants_log(request, 'y', most > kWide * least), {least, most, least},
                          figure.sheet);
  figure.script =
      heading({title_of(others, request), quantity_of(request.x, 0).title(),
               "speed-up over " + text(base.rows.front(), apart.front()) + best_note(request),
               table.key_title},
              request, figure.sheet) +
      across.script + up.script +
      "set arrow from graph 0, first 1 to graph 1, first 1 nohead lc rgb '#888888' lw 1.5 dt 2\n" +
      curves(table, across, up, 1);
  return figure;
}

}  // namespace tessera::plot
