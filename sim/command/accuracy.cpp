#include "sim/command/accuracy.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "sim/base/counted.h"
#include "sim/command/statistics.h"

namespace tessera::command {
namespace {

constexpr std::size_t kRankedLeast = 10;  ///< fewest points for a rank correlation
constexpr double kStraight = 0.95;        ///< least R2 of a published straight line

bool near(double ratio) { return ratio >= 1 / kNear && ratio <= kNear; }

bool judge_ratios(const AccuracyGate& kind, const std::vector<double>& ratios) {
  const auto [least, most] = std::ranges::minmax_element(ratios);
  bool passed = true;
  if (kind.median_high > 0) {
    const double middle = median(ratios);
    passed &=
        gate("accuracy",
             fmt::format("median {:.3f} ({:g} to {:g})", middle, kind.median_low, kind.median_high),
             middle >= kind.median_low && middle <= kind.median_high);
  }
  if (kind.share_near > 0) {
    const double share = share_within(ratios, 1 / kNear, kNear);
    passed &= gate("accuracy",
                   fmt::format("{:.1f} % of {} within {:g}x ({:.0f} % or more)", 100 * share,
                               counted(ratios.size(), "point"), kNear, 100 * kind.share_near),
                   share >= kind.share_near);
  }
  if (kind.each_low > 0) {
    const std::string allowed = kind.each_high > 0
                                    ? fmt::format("{:g} to {:g}", kind.each_low, kind.each_high)
                                    : fmt::format("{:g} or more", kind.each_low);
    passed &= gate("accuracy",
                   fmt::format("{} at {:.4f} to {:.4f} ({})", counted(ratios.size(), "point"),
                               *least, *most, allowed),
                   *least >= kind.each_low && (kind.each_high == 0 || *most <= kind.each_high));
  }
  return passed;
}

bool judge_ranks(const AccuracyGate& kind, const ValidationSet& set, const std::vector<Row>& rows) {
  const bool speedups = !set.baseline.config.is_null();
  const auto [points, found] = ranked(rows, speedups);
  if (kind.rank_correlation <= 0 || points < kRankedLeast) return true;
  return gate("accuracy",
              fmt::format("rank correlation of {} {:.3f} ({:g} or more)",
                          speedups ? "speed-ups" : "values", found, kind.rank_correlation),
              found >= kind.rank_correlation);
}

/// The best of the points that differ in a single key, and of their baselines. If that key measures
/// the work, best means most work per second.
struct Best {
  double point = 0;
  double baseline = 0;
};

std::optional<std::vector<double>> exponents_of(const ValidationSet& set,
                                                const std::vector<Row>& rows) {
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
  return fitted_exponents(xs, ys);
}

bool judge_fit(const AccuracyGate& kind, const ValidationSet& set, const std::vector<Row>& rows) {
  if (set.fit.exponents.empty()) return true;
  const auto fitted = exponents_of(set, rows);
  if (!fitted) return gate("accuracy", "the points determine the fitted exponents", false);
  bool passed = true;
  for (std::size_t i = 0; i < fitted->size(); ++i) {
    const PowerLaw::Exponent& exponent = set.fit.exponents[i];
    passed &= gate("accuracy",
                   fmt::format("exponent of {} {:.3f}, published {:g} (within {:g})", exponent.key,
                               (*fitted)[i], exponent.published, kind.exponent_within),
                   std::abs((*fitted)[i] - exponent.published) <= kind.exponent_within);
  }
  return passed;
}

/// Values of points by one of their numbers; nullopt if a point has no value.
struct Along {
  std::vector<double> at, values;
};
std::optional<Along> along(const std::vector<std::string>& points, const std::vector<double>& at,
                           const std::vector<Row>& rows) {
  Along found;
  for (std::size_t i = 0; i < points.size(); ++i)
    for (const Row& row : rows) {
      if (row.point->name != points[i] || !row.error.empty()) continue;
      found.at.push_back(at[i]);
      found.values.push_back(row.simulated);
    }
  return found.at.size() < points.size() ? std::nullopt : std::optional(std::move(found));
}

bool judge_line(const Line& line, const std::vector<Row>& rows) {
  std::optional<Along> points = along(line.points, line.at, rows);
  if (!points) return gate("accuracy", line.name + ": every point has a number", false);
  for (double& value : points->values) value *= line.scale;
  const StraightLine found = straight_line(points->at, points->values);
  const double ratio = found.slope / line.published;
  return gate("accuracy",
              fmt::format("{}: slope {:.4g} {}, published {:.4g} ({:.3f}, within {:g}x), R2 {:.4f} "
                          "({:.2f} or more), intercept {:.6g}",
                          line.name, found.slope, line.unit, line.published, ratio, kNear, found.r2,
                          kStraight, found.intercept),
              near(ratio) && found.r2 >= kStraight);
}

bool judge_knee(const Knee& knee, const std::vector<Row>& rows) {
  const std::optional<Along> points = along(knee.points, knee.at, rows);
  if (!points) return gate("accuracy", knee.name + ": every point has a number", false);
  const double largest = *std::ranges::max_element(points->values);
  std::size_t first = 0;
  while (points->values[first] < (1 - knee.within) * largest) ++first;
  const double most = std::max(knee.published, knee.published_most);
  const double found = points->at[first];
  return gate("accuracy",
              fmt::format("{}: within {:g} % of the largest from {:g} on, published {:g}{}",
                          knee.name, 100 * knee.within, found, knee.published,
                          most > knee.published ? fmt::format(" to {:g}", most) : ""),
              found >= knee.published && found <= most);
}

/// The set's knees; with `quick`, only those whose points all have rows.
std::vector<Knee> knees_of(const ValidationSet& set, const std::vector<Row>& rows, bool quick) {
  std::vector<Knee> knees = set.knees;
  if (quick)
    std::erase_if(knees, [&](const Knee& knee) { return !along(knee.points, knee.at, rows); });
  return knees;
}

}  // namespace

std::optional<double> agreement(const Row& row) {
  const ValidationPoint& point = *row.point;
  if (!row.error.empty() || !point.fits) return std::nullopt;
  if (point.published != 0) return row.ratio();
  if (point.published_speedup == 0) return std::nullopt;
  return row.speedup() / point.published_speedup;
}

std::vector<double> agreements(const std::vector<Row>& rows) {
  std::vector<double> ratios;
  for (const Row& row : rows)
    if (const auto ratio = agreement(row)) ratios.push_back(*ratio);
  return ratios;
}

std::optional<bool> judge_accuracy(const ValidationSet& set, const std::vector<Row>& rows,
                                   bool quick) {
  const EvidenceKind& kind = kind_of(set.evidence);
  const std::vector<double> ratios = agreements(rows);
  const std::vector<Knee> knees = knees_of(set, rows, quick);
  const bool compared = !knees.empty() || (!quick && !set.lines.empty());
  if (!kind.gate.asks() || (ratios.empty() && !compared)) return std::nullopt;
  bool passed = ratios.empty() || judge_ratios(kind.gate, ratios);
  for (const Knee& knee : knees) passed &= judge_knee(knee, rows);
  if (quick) return passed;
  passed &= judge_ranks(kind.gate, set, rows);
  passed &= judge_fit(kind.gate, set, rows);
  for (const Line& line : set.lines) passed &= judge_line(line, rows);
  return passed;
}

}  // namespace tessera::command
