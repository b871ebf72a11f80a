#include "sim/command/gates.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "sim/command/statistics.h"

namespace tessera::command {

bool gate(const char* kind, const std::string& what, bool passed) {
  fmt::print("  {} {}: {}\n", kind, passed ? "pass" : "FAIL", what);
  return passed;
}

namespace {

bool judge_ratios(const Regression& gates, const std::vector<double>& ratios) {
  const auto [least, most] = std::ranges::minmax_element(ratios);
  bool passed = true;
  if (gates.each_within > 0) {
    const double worst = std::max(1 - *least, *most - 1);
    passed &= gate(
        "regression",
        fmt::format("each within {:.1f} % (worst {:.2f} %)", 100 * gates.each_within, 100 * worst),
        worst <= gates.each_within);
  }
  if (gates.median_high > 0) {
    const double middle = median(ratios);
    passed &= gate("regression",
                   fmt::format("median ratio within {} to {} ({:.3f})", gates.median_low,
                               gates.median_high, middle),
                   middle >= gates.median_low && middle <= gates.median_high);
  }
  if (gates.none_above > 0) {
    passed &= gate("regression",
                   fmt::format("no ratio outside {} to {} ({:.3f} to {:.3f})", gates.none_below,
                               gates.none_above, *least, *most),
                   *least >= gates.none_below && *most <= gates.none_above);
  }
  if (gates.share_least > 0) {
    const double share = share_within(ratios, gates.share_low, gates.share_high);
    passed &=
        gate("regression",
             fmt::format("{:.0f} % of ratios within {} to {} ({:.1f} %)", 100 * gates.share_least,
                         gates.share_low, gates.share_high, 100 * share),
             share >= gates.share_least);
  }
  return passed;
}

bool judge_speedups(const Regression& gates, const std::vector<Row>& rows) {
  if (gates.speedup_most <= 0) return true;
  double least = INFINITY;
  double most = 0;
  for (const Row& row : rows) {
    if (!row.error.empty()) continue;
    least = std::min(least, row.speedup());
    most = std::max(most, row.speedup());
  }
  return gate("regression",
              fmt::format("every speed-up within {} to {} ({:.3f} to {:.3f})", gates.speedup_least,
                          gates.speedup_most, least, most),
              least >= gates.speedup_least && most <= gates.speedup_most);
}

/// Speed-ups by a number, ascending.
using Curve = std::vector<std::pair<double, double>>;

/// Where the curve first crosses `speedup`; NaN: nowhere.
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
    passed &= gate("regression",
                   fmt::format("{} (recorded {:g} to {:g})", text_of(set.crossing, one),
                               set.crossing.least, set.crossing.most),
                   one.at >= set.crossing.least && one.at <= set.crossing.most);
  return passed;
}

bool judge_changes(const ValidationSet& set, const std::vector<Row>& rows) {
  const Neighbours& neighbours = set.neighbours;
  if (neighbours.over.empty()) return true;
  std::vector<double> ratios;
  for (const Change& change : changes(set, rows)) ratios.push_back(change.ratio);
  const double near = 1 + neighbours.within;
  const double share = share_within(ratios, 1 / near, near);
  return gate(
      "regression",
      fmt::format("{:.1f} % of {} changes between neighbours within {:.0f} % of published "
                  "({:.1f} % recorded)",
                  100 * share, ratios.size(), 100 * neighbours.within, 100 * neighbours.share),
      share >= neighbours.share);
}

bool judge_recorded_ranks(const ValidationSet& set, const std::vector<Row>& rows) {
  if (set.regression.rank_least <= 0) return true;
  const double found = ranked(rows, false).correlation;
  return gate(
      "regression",
      fmt::format("rank correlation {:.4f} ({:g} or more)", found, set.regression.rank_least),
      found >= set.regression.rank_least);
}

/// Adds changes along one number: between rows that agree in everything else, in ascending order.
void add_along(const ValidationSet& set, const std::vector<Row>& rows, std::size_t along,
               std::vector<Change>& found) {
  const Neighbours& neighbours = set.neighbours;
  std::map<std::string, std::map<double, const Row*>> groups;
  for (const Row& row : rows) {
    if (!row.error.empty() || row.point->published == 0) continue;
    const config::Json at = value_of(set, *row.point, neighbours.over[along]);
    if (!at.is_number()) continue;
    std::string others;
    for (std::size_t i = 0; i < neighbours.over.size(); ++i)
      if (i != along) others += value_of(set, *row.point, neighbours.over[i]).dump() + " ";
    for (const std::string& key : neighbours.same)
      others += value_of(set, *row.point, key).dump() + " ";
    groups[others][at.get<double>()] = &row;
  }
  for (const auto& [others, group] : groups)
    for (auto to = group.begin(), from = to++; to != group.end(); from = to++)
      found.push_back({from->second, to->second, to->second->ratio() / from->second->ratio()});
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
  std::vector<std::string> names;  // in order of appearance
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
    std::ranges::stable_sort(group.curve,
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
  if (!point.recorded) return true;
  if (!point.fits) return row.error.find("fit") != std::string::npos;
  if (!row.error.empty()) return false;
  const double difference = std::abs(row.simulated - point.published);
  const PointRegression& gate = point.regression;
  return (gate.within == 0 || difference <= gate.within * point.published) &&
         (gate.within_absolute == 0 || difference <= gate.within_absolute) &&
         (gate.peak_at_most == 0 || row.fraction_of_peak <= gate.peak_at_most) &&
         (gate.speedup_within == 0 || std::abs(row.speedup() - point.published_speedup) <=
                                          gate.speedup_within * point.published_speedup);
}

Ranked ranked(const std::vector<Row>& rows, bool speedups) {
  std::vector<double> published;
  std::vector<double> simulated;
  for (const Row& row : rows) {
    const double known = speedups ? row.point->published_speedup : row.point->published;
    if (!row.error.empty() || known == 0) continue;
    published.push_back(known);
    simulated.push_back(speedups ? row.speedup() : row.simulated);
  }
  return {published.size(), rank_correlation(published, simulated)};
}

bool judge_regression(const ValidationSet& set, const std::vector<Row>& rows, bool quick) {
  bool passed = gate("regression", "every point has a number, where it was recorded",
                     std::ranges::all_of(rows, point_passes));
  std::vector<double> ratios;
  for (const Row& row : rows) {
    if (row.error.empty() && row.point->published > 0) ratios.push_back(row.ratio());
  }
  if (!ratios.empty()) passed &= judge_ratios(set.regression, ratios);
  passed &= judge_speedups(set.regression, rows);
  if (quick) return passed;
  passed &= judge_recorded_ranks(set, rows);
  passed &= judge_changes(set, rows);
  return judge_crossings(set, rows) && passed;
}

std::vector<Change> changes(const ValidationSet& set, const std::vector<Row>& rows) {
  std::vector<Change> found;
  for (std::size_t i = 0; i < set.neighbours.over.size(); ++i) add_along(set, rows, i, found);
  return found;
}

}  // namespace tessera::command
