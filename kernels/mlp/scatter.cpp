#include "kernels/mlp/scatter.h"

#include <algorithm>
#include <cmath>

#include "kernels/check/rounding.h"
#include "sim/data/element.h"

namespace tessera::mlp {

double deviation(std::span<const double> trained) {
  double squares = 0;
  for (const double each : trained.subspan(1)) {
    const double difference = each - trained.front();
    squares += difference * difference;
  }
  return std::sqrt(squares / static_cast<double>(trained.size() - 1));
}

kernels::Compared compared(double found, std::span<const double> trained, double least) {
  return {.found = found,
          .expected = trained.front(),
          .allowed = kDeviations * std::hypot(deviation(trained), least)};
}

namespace {

/// Factor of slack: without it the found training would exceed all others once in 32 times.
constexpr double kSurprises = 2;
constexpr double kPrior = 1;  ///< degrees of freedom of the median

/// Sums of the squared differences of perturbed trainings from the unperturbed one.
std::vector<double> squares_of(const TrainedParameters& its) {
  const std::span<const float> expected = its.trained.front();
  std::vector<double> squares(expected.size(), 0.0);
  for (std::size_t run = 1; run < its.trained.size(); ++run)
    for (std::size_t i = 0; i < squares.size(); ++i) {
      const double difference = double(its.trained[run][i]) - double(expected[i]);
      squares[i] += difference * difference;
    }
  return squares;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The square of half a unit in the last place, to which updates are rounded.
double rounding(const TrainedParameters& its, std::size_t i) {
  const double last = data::unit_roundoff(its.type) * std::abs(double(its.trained.front()[i])) +
                      kernels::half_smallest(its.type);
  return last * last;
}

std::vector<double> variances(const TrainedParameters& its) {
  const auto count = static_cast<double>(its.trained.size() - 1);
  std::vector<double> own = squares_of(its);
  const double middle = median(own) / count;
  for (std::size_t i = 0; i < own.size(); ++i)
    own[i] = (own[i] + kPrior * middle) / (count + kPrior) + rounding(its, i);
  return own;
}

/// Differences of one training from the unperturbed one.
struct Differences {
  double size, share;
  double least_share;  ///< deviation of `share` if differences were independent
};
Differences differences(const TrainedParameters& its, std::span<const float> one,
                        const std::vector<double>& variance) {
  double squares = 0;
  double along = 0;
  double change = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (variance[i] == 0) continue;
    const double expected = its.trained.front()[i];
    const double most = kDeviations * std::sqrt(variance[i]);
    const double difference = std::clamp(one[i] - expected, -most, most);
    const double step = expected - its.initial[i];
    squares += difference * difference / variance[i];
    along += difference * step / variance[i];
    change += step * step / variance[i];
  }
  return {std::sqrt(squares / static_cast<double>(one.size())), change > 0 ? along / change : 0,
          change > 0 ? 1 / std::sqrt(change) : 0};
}

}  // namespace

bool change_is_significant(const TrainedParameters& its) {
  const std::span<const float> expected = its.trained.front();
  double change = 0;
  double apart = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double step = double(expected[i]) - its.initial[i];
    change += step * step;
    for (const std::span<const float> one : its.trained) {
      const double difference = double(one[i]) - double(expected[i]);
      apart += difference * difference;
    }
  }
  apart /= static_cast<double>(its.trained.size() - 1);
  return kDeviations * std::sqrt(apart) <= std::sqrt(change);
}

double largest_surprise(const TrainedParameters& its) {
  const std::span<const float> expected = its.trained.front();
  const std::vector<double> squares = squares_of(its);
  const double middle = median(squares) / static_cast<double>(its.trained.size() - 1);
  const double others = static_cast<double>(its.trained.size() - 2) + kPrior;
  double largest = 0;
  for (std::size_t run = 1; run < its.trained.size(); ++run)
    for (std::size_t i = 0; i < squares.size(); ++i) {
      const double difference = std::abs(double(its.trained[run][i]) - double(expected[i]));
      const double square = difference * difference;
      const double variance = (squares[i] - square + kPrior * middle) / others + rounding(its, i);
      if (square > kDeviations * kDeviations * variance) largest = std::max(largest, difference);
    }
  return largest;
}

std::vector<double> allowed_of(const TrainedParameters& its) {
  const bool last = its.halves && its.trained.size() > kMostTrainings;
  const double surprise = last ? kSurprises * largest_surprise(its) : 0;
  std::vector<double> allowed = variances(its);
  for (double& each : allowed) each = std::max(kDeviations * std::sqrt(each), surprise);
  return allowed;
}

OverallComparison compared_together(const TrainedParameters& its) {
  const std::vector<double> variance = variances(its);
  std::vector<double> sizes{0};
  std::vector<double> shares{0};
  for (std::size_t run = 1; run < its.trained.size(); ++run) {
    const Differences each = differences(its, its.trained[run], variance);
    sizes.push_back(each.size);
    shares.push_back(each.share);
  }
  const Differences found = differences(its, its.found, variance);
  return {compared(found.size, sizes, 1 / kDeviations),
          compared(found.share, shares, found.least_share)};
}

}  // namespace tessera::mlp
