#include "kernels/mlp/scatter.h"

#include <algorithm>
#include <cmath>

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

/// Variances of the parameters of perturbed trainings.
std::vector<double> variances(const TrainedParameters& its) {
  const auto count = static_cast<double>(its.trained.size() - 1);
  const std::span<const float> expected = its.trained.front();
  std::vector<double> own(expected.size(), 0.0);
  for (std::size_t run = 1; run < its.trained.size(); ++run)
    for (std::size_t i = 0; i < own.size(); ++i) {
      const double difference = double(its.trained[run][i]) - double(expected[i]);
      own[i] += difference * difference / count;
    }
  std::vector<double> sorted = own;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  constexpr double kPrior = 1;  // degrees of freedom
  for (std::size_t i = 0; i < own.size(); ++i) {
    // Half a unit in the last place, which updates are rounded to.
    const double last = its.roundoff * std::abs(double(expected[i]));
    own[i] = (count * own[i] + kPrior * *middle) / (count + kPrior) + last * last;
  }
  return own;
}

/// Differences of one training from the unperturbed one.
struct Differences {
  double size, share;
  double least_share;  ///< a share's deviation if differences were independent
};
Differences differences(const TrainedParameters& its, std::span<const float> one,
                        const std::vector<double>& variance) {
  double squares = 0;
  double along = 0;
  double change = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (variance[i] == 0) continue;
    const double expected = its.trained.front()[i];
    const double difference = one[i] - expected;
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

std::vector<double> allowed_of(const TrainedParameters& its) {
  std::vector<double> allowed = variances(its);
  for (double& each : allowed) each = kDeviations * std::sqrt(each);
  return allowed;
}

Together compared_together(const TrainedParameters& its) {
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
