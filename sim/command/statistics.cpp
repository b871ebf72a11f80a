#include "sim/command/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tessera::command {
namespace {

std::vector<std::size_t> ordered(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  return order;
}

/// Where `values` are equal, the mean of their numbers.
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

/// Solves a symmetric positive system by elimination; nothing if it is (nearly) singular.
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
  const std::vector<double> x = ranks(known);
  const std::vector<double> y = shared(known, ranks(found));
  const double middle = mean(x);
  double xx = 0;
  double yy = 0;
  double xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - middle) * (x[i] - middle);
    yy += (y[i] - middle) * (y[i] - middle);
    xy += (x[i] - middle) * (y[i] - middle);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

std::optional<std::vector<double>> fitted_exponents(const std::vector<std::vector<double>>& xs,
                                                    const std::vector<double>& y) {
  if (xs.empty()) return std::nullopt;
  // Normal equations of log y = e . log x + log c, centred so that c falls out.
  const std::size_t factors = xs.front().size();
  std::vector<double> mean(factors + 1, 0.0);
  const auto logs = [&](std::size_t i) {
    std::vector<double> row;
    for (const double x : xs[i]) row.push_back(std::log(x));
    row.push_back(std::log(y[i]));
    return row;
  };
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const std::vector<double> row = logs(i);
    for (std::size_t f = 0; f <= factors; ++f) mean[f] += row[f] / static_cast<double>(xs.size());
  }
  std::vector<std::vector<double>> a(factors, std::vector<double>(factors, 0.0));
  std::vector<double> b(factors, 0.0);
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const std::vector<double> row = logs(i);
    for (std::size_t f = 0; f < factors; ++f) {
      for (std::size_t g = 0; g < factors; ++g) a[f][g] += (row[f] - mean[f]) * (row[g] - mean[g]);
      b[f] += (row[f] - mean[f]) * (row[factors] - mean[factors]);
    }
  }
  return solve(std::move(a), std::move(b));
}

StraightLine straight_line(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  const double mean_x = std::accumulate(x.begin(), x.end(), 0.0) / n;
  const double mean_y = std::accumulate(y.begin(), y.end(), 0.0) / n;
  double xx = 0;
  double xy = 0;
  double yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  const double slope = xy / xx;
  return {slope, mean_y - slope * mean_x, yy > 0 ? slope * xy / yy : 1};
}

}  // namespace tessera::command
