#include "sim/command/gates.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "sim/command/statistics.h"

namespace tessera::command {
namespace {

bool gate(const std::string& what, bool passed) {
  fmt::print("  {}: {}\n", passed ? "pass" : "FAIL", what);
  return passed;
}

bool judge_ratios(const Gates& gates, const std::vector<double>& ratios) {
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  bool passed = true;
  if (gates.each_within > 0) {
    const double worst = std::max(1 - *least, *most - 1);
    passed &= gate(
        fmt::format("each within {:.1f} % (worst {:.2f} %)", 100 * gates.each_within, 100 * worst),
        worst <= gates.each_within);
  }
  if (gates.median_high > 0) {
    const double middle = median(ratios);
    passed &= gate(fmt::format("median ratio within {} to {} ({:.3f})", gates.median_low,
                               gates.median_high, middle),
                   middle >= gates.median_low && middle <= gates.median_high);
  }
  if (gates.none_above > 0) {
    passed &= gate(fmt::format("no ratio outside {} to {} ({:.3f} to {:.3f})", gates.none_below,
                               gates.none_above, *least, *most),
                   *least >= gates.none_below && *most <= gates.none_above);
  }
  if (gates.share_least > 0) {
    const double share = share_within(ratios, gates.share_low, gates.share_high);
    passed &=
        gate(fmt::format("{:.0f} % of ratios within {} to {} ({:.1f} %)", 100 * gates.share_least,
                         gates.share_low, gates.share_high, 100 * share),
             share >= gates.share_least);
  }
  return passed;
}

bool judge_speedups(const Gates& gates, const std::vector<Row>& rows) {
  if (gates.speedup_most <= 0) return true;
  double least = INFINITY;
  double most = 0;
  for (const Row& row : rows) {
    if (!row.error.empty()) continue;
    least = std::min(least, row.speedup());
    most = std::max(most, row.speedup());
  }
  return gate(fmt::format("every speed-up within {} to {} ({:.3f} to {:.3f})", gates.speedup_least,
                          gates.speedup_most, least, most),
              least >= gates.speedup_least && most <= gates.speedup_most);
}

bool judge_ranks(const ValidationSet& set, const std::vector<Row>& rows) {
  if (set.gates.rank_correlation <= 0) return true;
  const bool speedups = !set.baseline.config.is_null();
  std::vector<double> published;
  std::vector<double> simulated;
  for (const Row& row : rows) {
    if (!row.error.empty() || row.point->published == 0) continue;
    published.push_back(speedups ? row.point->published_speedup : row.point->published);
    simulated.push_back(speedups ? row.speedup() : row.simulated);
  }
  const double found = rank_correlation(published, simulated);
  return gate(fmt::format("rank correlation of {} at least {} ({:.3f})",
                          speedups ? "speed-ups" : "values", set.gates.rank_correlation, found),
              found >= set.gates.rank_correlation);
}

/// The best of the points that differ in one key only, and of their baselines. With that key as
/// measure of the work, best is most work a second.
struct Best {
  double point = 0;
  double baseline = 0;
};

bool judge_fit(const ValidationSet& set, const std::vector<Row>& rows) {
  if (set.fit.exponents.empty()) return true;
  std::map<std::vector<double>, Best> groups;
  for (const Row& row : rows) {
    if (!row.error.empty()) continue;
    std::vector<double> keys;
    for (const PowerLaw::Exponent& exponent : set.fit.exponents) {
      keys.push_back(value_of(set, *row.point, exponent.key).get<double>());
    }
    const double work = set.fit.best_over.empty()
                            ? 1.0
                            : value_of(set, *row.point, set.fit.best_over).get<double>();
    Best& best = groups[keys];
    const bool speedups = row.baseline_seconds > 0;
    best.point = std::max(best.point, speedups ? work / row.seconds : row.simulated);
    best.baseline =
        std::max({best.baseline, row.baseline_rate, speedups ? work / row.baseline_seconds : 1.0});
  }
  std::vector<std::vector<double>> xs;
  std::vector<double> ys;
  for (const auto& [keys, best] : groups) {
    xs.push_back(keys);
    ys.push_back(best.point / best.baseline);
  }
  const auto fitted = fitted_exponents(xs, ys);
  if (!fitted) return gate("the points determine the fitted exponents", false);
  bool passed = true;
  for (std::size_t i = 0; i < fitted->size(); ++i) {
    const PowerLaw::Exponent& exponent = set.fit.exponents[i];
    passed &= gate(fmt::format("exponent of {} within {} of {} ({:.3f})", exponent.key,
                               exponent.within, exponent.published, (*fitted)[i]),
                   std::abs((*fitted)[i] - exponent.published) <= exponent.within);
  }
  return passed;
}

/// Speed-ups along a number, in its order.
using Curve = std::vector<std::pair<double, double>>;

/// Where it first rises above or falls below that; NaN: nowhere.
double passes(const Curve& curve, double speedup) {
  for (std::size_t i = 1; i < curve.size(); ++i) {
    const auto [x, before] = curve[i - 1];
    const auto [next_x, after] = curve[i];
    if ((before < speedup) == (after < speedup)) continue;
    return x * std::pow(next_x / x, std::log(speedup / before) / std::log(after / before));
  }
  return NAN;
}

bool judge_crossings(const ValidationSet& set, const std::vector<Row>& rows) {
  bool passed = true;
  for (const Passed& one : crossings(set, rows))
    passed &= gate(fmt::format("{} (allowed {:g} to {:g})", text_of(set.crossing, one),
                               set.crossing.least, set.crossing.most),
                   one.at >= set.crossing.least && one.at <= set.crossing.most);
  return passed;
}

bool judge_line(const Line& line, const std::vector<Row>& rows) {
  std::vector<double> x;
  std::vector<double> y;
  for (std::size_t i = 0; i < line.points.size(); ++i) {
    for (const Row& row : rows) {
      if (row.point->name != line.points[i] || !row.error.empty()) continue;
      x.push_back(line.at[i]);
      y.push_back(row.simulated * line.scale);
    }
  }
  if (x.size() < line.points.size()) return gate(line.name + ": every point has a number", false);
  const StraightLine found = straight_line(x, y);
  const double off = found.slope / line.published - 1;
  return gate(fmt::format("{}: slope {:.4g} {}, published {:.4g} ({:+.1f} %, allowed {:.0f} %), R2 "
                          "{:.4f} (least {:.2f}), intercept {:.6g}",
                          line.name, found.slope, line.unit, line.published, 100 * off,
                          100 * line.within, found.r2, line.r2_least, found.intercept),
              (line.within == 0 || std::abs(off) <= line.within) && found.r2 >= line.r2_least);
}

}  // namespace

std::vector<Passed> crossings(const ValidationSet& set, const std::vector<Row>& rows) {
  const std::string& over = set.crossing.over;
  if (over.empty()) return {};
  struct Group {
    double published;
    Curve curve;
  };
  std::map<std::string, Group> groups;
  std::vector<std::string> names;  // as they come
  for (const Row& row : rows) {
    const ValidationPoint& point = *row.point;
    const std::optional<double> along = context_number(point, over);
    if (!along || !row.error.empty() || point.published_speedup == 0) continue;
    std::string name;
    for (const std::string& axis : set.axes) {
      const config::Json value = value_of(set, point, axis);
      name +=
          (name.empty() ? "" : " ") + (value.is_string() ? value.get<std::string>() : value.dump());
    }
    const auto [at, is_new] = groups.try_emplace(name, Group{point.published_speedup, {}});
    if (is_new) names.push_back(name);
    at->second.curve.emplace_back(*along, row.speedup());
  }
  std::vector<Passed> found;
  for (const std::string& name : names) {
    Group& group = groups.at(name);
    std::stable_sort(group.curve.begin(), group.curve.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    found.push_back(
        {name, group.published, passes(group.curve, 1), passes(group.curve, group.published)});
  }
  return found;
}

std::string text_of(const Crossing& crossing, const Passed& passed) {
  const auto at = [](double number) {
    if (std::isnan(number)) return std::string("none of these points");
    return number < 100 ? fmt::format("{:.3g}", number) : fmt::format("{:.0f}", number);
  };
  return fmt::format("{}: {:g} (published) passed at {} = {}, 1 at {}", passed.group,
                     passed.published, crossing.over, at(passed.at), at(passed.break_even));
}

bool point_passes(const Row& row) {
  const ValidationPoint& point = *row.point;
  if (!point.fits) return row.error.find("fit") != std::string::npos;
  if (!row.error.empty()) return false;
  const double difference = std::abs(row.simulated - point.published);
  return (point.within == 0 || difference <= point.within * point.published) &&
         (point.within_absolute == 0 || difference <= point.within_absolute) &&
         (point.peak_at_most == 0 || row.fraction_of_peak <= point.peak_at_most) &&
         (point.speedup_within == 0 || std::abs(row.speedup() - point.published_speedup) <=
                                           point.speedup_within * point.published_speedup);
}

bool judge(const ValidationSet& set, const std::vector<Row>& rows, bool quick) {
  bool passed = gate("every point has a number within its own gate, if it has one",
                     std::all_of(rows.begin(), rows.end(), point_passes));
  std::vector<double> ratios;
  for (const Row& row : rows) {
    if (row.error.empty() && row.point->published > 0) ratios.push_back(row.ratio());
  }
  const bool publishes = std::any_of(rows.begin(), rows.end(),
                                     [](const Row& row) { return row.point->published > 0; });
  if (publishes && ratios.empty()) return false;
  if (publishes) passed &= judge_ratios(set.gates, ratios);
  passed &= judge_speedups(set.gates, rows);
  if (quick) return passed;
  passed &= judge_ranks(set, rows);
  passed &= judge_fit(set, rows);
  passed &= judge_crossings(set, rows);
  for (const Line& line : set.lines) passed &= judge_line(line, rows);
  return passed;
}

}  // namespace tessera::command
