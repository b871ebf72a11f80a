#include "sim/command/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/ranges.h"

namespace tessera::command {
namespace {

std::vector<std::size_t> ordered(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  return order;
}

/// For groups of equal `values`, the mean of their `numbers`.
std::vector<double> shared(const std::vector<double>& values, const std::vector<double>& numbers) {
  const std::vector<std::size_t> order = ordered(values);
  std::vector<double> means(values.size());
  for (std::size_t first = 0, end = 0; first < order.size(); first = end) {
    double sum = 0;
    for (; end < order.size() && values[order[end]] == values[order[first]]; ++end)
      sum += numbers[order[end]];
    for (std::size_t i = first; i < end; ++i)
      means[order[i]] = sum / static_cast<double>(end - first);
  }
  return means;
}

std::vector<double> ranks(const std::vector<double>& values) {
  const std::vector<std::size_t> order = ordered(values);
  std::vector<double> rank(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) rank[order[i]] = static_cast<double>(i);
  return shared(values, rank);
}

/// Sums of squares and products of deviations from the means.
struct Spread {
  double xx = 0, xy = 0, yy = 0;
};
Spread spread_of(const std::vector<double>& x, const std::vector<double>& y) {
  const double middle_x = mean(x);
  const double middle_y = mean(y);
  Spread sum;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum.xx += (x[i] - middle_x) * (x[i] - middle_x);
    sum.xy += (x[i] - middle_x) * (y[i] - middle_y);
    sum.yy += (y[i] - middle_y) * (y[i] - middle_y);
  }
  return sum;
}

/// Solves a symmetric positive-definite system by elimination; nullopt if (nearly) singular.
std::optional<std::vector<double>> solve(std::vector<std::vector<double>> a,
                                         std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t pivot = 0; pivot < n; ++pivot) {
    if (a[pivot][pivot] < 1e-9) return std::nullopt;
    for (std::size_t row = pivot + 1; row < n; ++row) {
      const double factor = a[row][pivot] / a[pivot][pivot];
      for (std::size_t column = pivot; column < n; ++column) {
        a[row][column] -= factor * a[pivot][column];
      }
      b[row] -= factor * b[pivot];
    }
  }
  for (std::size_t row = n; row-- > 0;) {
    for (std::size_t column = row + 1; column < n; ++column) b[row] -= a[row][column] * b[column];
    b[row] /= a[row][row];
  }
  return b;
}

}  // namespace

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double share_within(const std::vector<double>& values, double low, double high) {
  if (values.empty()) return 0;
  const auto inside =
      std::ranges::count_if(values, [&](double value) { return value >= low && value <= high; });
  return static_cast<double>(inside) / static_cast<double>(values.size());
}

double rank_correlation(const std::vector<double>& known, const std::vector<double>& found) {
  if (known.empty()) return 0;
  const Spread spread = spread_of(ranks(known), shared(known, ranks(found)));
  return spread.xx > 0 && spread.yy > 0 ? spread.xy / std::sqrt(spread.xx * spread.yy) : 0;
}

std::optional<std::vector<double>> fitted_exponents(const std::vector<std::vector<double>>& xs,
                                                    const std::vector<double>& y) {
  if (xs.empty()) return std::nullopt;
  // Normal equations of log y = e . log x + log c, centred to eliminate c.
  const std::size_t factors = xs.front().size();
  std::vector<std::vector<double>> logs(factors);
  for (const std::vector<double>& x : xs)
    for (std::size_t f = 0; f < factors; ++f) logs[f].push_back(std::log(x[f]));
  const auto log_y = mapped(y, [](double value) { return std::log(value); });
  std::vector<std::vector<double>> a(factors);
  std::vector<double> b;
  for (std::size_t f = 0; f < factors; ++f) {
    for (std::size_t g = 0; g < factors; ++g) a[f].push_back(spread_of(logs[f], logs[g]).xy);
    b.push_back(spread_of(logs[f], log_y).xy);
  }
  return solve(std::move(a), std::move(b));
}

StraightLine straight_line(const std::vector<double>& x, const std::vector<double>& y) {
  const auto [xx, xy, yy] = spread_of(x, y);
  const double slope = xy / xx;
  return {slope, mean(y) - slope * mean(x), yy > 0 ? slope * xy / yy : 1};
}

}  // namespace tessera::command
