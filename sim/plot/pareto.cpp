#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/plot/script.h"
#include "sim/sweep/tables.h"

namespace tessera::plot {
namespace {

struct Design {
  double x, y;
  std::string label;
  bool best = true;   ///< no other is at least as good in both and better in one
  bool named = true;  ///< its label stands free
};

void mark_front(std::vector<Design>& designs, bool more_x, bool more_y) {
  const auto worse = [](double a, double b, bool more) { return more ? a < b : a > b; };
  for (Design& each : designs) {
    each.best = std::none_of(designs.begin(), designs.end(), [&](const Design& other) {
      const bool nowhere_worse = !worse(other.x, each.x, more_x) && !worse(other.y, each.y, more_y);
      return nowhere_worse && (worse(each.x, other.x, more_x) || worse(each.y, other.y, more_y));
    });
  }
}

/// The labels of the best that do not lie upon one already there.
void choose_labels(std::vector<Design>& designs, bool log_x, bool log_y) {
  constexpr double kWidth = 0.22, kHeight = 0.045;  // of a label, of the whole figure
  const auto place = [&](double Design::*member, bool logarithmic) {
    double least = designs.front().*member, most = least;
    for (const Design& each : designs) {
      least = std::min(least, each.*member);
      most = std::max(most, each.*member);
    }
    return [=](const Design& each) {
      const double value = each.*member;
      if (most <= least) return 0.0;
      return logarithmic ? std::log(value / least) / std::log(most / least) : value / most;
    };
  };
  const auto x = place(&Design::x, log_x), y = place(&Design::y, log_y);
  for (std::size_t i = 0; i < designs.size(); ++i) {
    designs[i].named = designs[i].best;
    for (std::size_t j = 0; j < i && designs[i].named; ++j) {
      designs[i].named = !designs[j].named || std::abs(x(designs[i]) - x(designs[j])) > kWidth ||
                         std::abs(y(designs[i]) - y(designs[j])) > kHeight;
    }
  }
}

/// Names of what the axes are at a run, short.
std::string label_of(const Row& row, const std::vector<std::string>& by) {
  std::string label;
  for (const std::string& path : by) {
    const std::string value = text(row, path);
    if (value.empty()) continue;
    label += label.empty() ? "" : ", ";
    label += number(row, path) ? quantity_of(path, 0).label + " " + value : value;
  }
  return label;
}

std::vector<Design> designs_of(const Rows& rows, const Request& request) {
  std::vector<Design> designs;
  const std::vector<std::string> by = request.by.empty() ? varying(rows) : request.by;
  for (const Row& row : rows.rows) {
    const auto x = number(row, request.x), y = number(row, request.y.front());
    if (x && y) designs.push_back({*x, *y, label_of(row, by)});
  }
  std::sort(designs.begin(), designs.end(), [](const Design& a, const Design& b) {
    return std::tie(a.x, a.y, a.label) < std::tie(b.x, b.y, b.label);
  });
  return designs;
}

std::string csv_of(const std::vector<Design>& designs, const Request& request) {
  std::string csv = fmt::format("{},{},best,named,run\n", request.x, request.y.front());
  for (const Design& each : designs) {
    csv += fmt::format("{},{},{},{},{}\n", each.x, each.y, each.best ? 1 : 0, each.named ? 1 : 0,
                       sweep::csv_cell(each.label));
  }
  return csv;
}

/// Whether values lie too far apart for an axis from zero.
bool is_wide(const std::vector<Design>& designs, double Design::*member) {
  constexpr double kWide = 20;
  double least = designs.front().*member, most = least;
  for (const Design& each : designs) {
    least = std::min(least, each.*member);
    most = std::max(most, each.*member);
  }
  return least > 0 && most > kWide * least;
}

/// All runs grey, the front as stairs, its runs with their labels.
std::string front_script(const Quantity& x, const Quantity& y, bool more_x) {
  return fmt::format(
      "plot data using ($1*{0}):($2*{1}) with points pt 7 ps 0.6 lc rgb '#aaaaaa' title "
      "'runs', \\\n"
      "  data using ($3==1?$1*{0}:NaN):($2*{1}) with {2} lw 2 lc rgb '{3}' notitle, \\\n"
      "  data using ($3==1?$1*{0}:NaN):($2*{1}) with points pt 7 ps 1 lc rgb '{3}' title "
      "'best', \\\n"
      "  data using ($4==1?$1*{0}:NaN):($2*{1}):5 with labels left offset 0.8,-0.7 font ',9' "
      "tc rgb '#444444' notitle\n",
      x.scale, y.scale, more_x ? "fsteps" : "steps", colour(1));
}

}  // namespace

/// Two quantities of each run, and the runs that no other beats in both.
Figure pareto(const Source& source, const Request& given) {
  Request request = given;
  if (request.x.empty()) request.x = "memory.max_tile_bytes";
  if (request.y.empty()) request.y = {"time.cycles"};
  require_path(source.rows, request.x, "--x", true);
  require_path(source.rows, request.y.front(), "--y", true);
  for (const std::string& path : request.by) require_path(source.rows, path, "--by", false);
  std::vector<Design> designs = designs_of(source.rows, request);
  if (designs.empty()) throw UserError(source.rows.origin + ": no run has both quantities");
  const bool more_x = more_is_better(request.x), more_y = more_is_better(request.y.front());
  mark_front(designs, more_x, more_y);
  const bool log_x = wants_log(request, 'x', is_wide(designs, &Design::x));
  const bool log_y = wants_log(request, 'y', is_wide(designs, &Design::y));
  choose_labels(designs, log_x, log_y);
  double highest = designs.front().y, lowest = highest;
  for (const Design& each : designs) {
    highest = std::max(highest, each.y);
    lowest = std::min(lowest, each.y);
  }
  const Quantity x = quantity_of(request.x, designs.back().x);
  const Quantity y = quantity_of(request.y.front(), highest);
  const auto direction = [](bool more) { return more ? ", more is better" : ", less is better"; };
  constexpr double kRoomForLabels = 1.15;
  Figure figure;
  figure.csv = csv_of(designs, request);
  figure.script = heading(title_of(source.rows, request), x.title() + direction(more_x),
                          y.title() + direction(more_y), "") +
                  (log_x ? log_axis('x', designs.front().x * x.scale,
                                    kRoomForLabels * designs.back().x * x.scale)
                         : from_zero('x', kRoomForLabels * designs.back().x * x.scale)) +
                  y_axis(log_y, lowest * y.scale, highest * y.scale) + front_script(x, y, more_x);
  return figure;
}

}  // namespace tessera::plot
