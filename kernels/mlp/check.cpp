#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "kernels/mlp/reference.h"
#include "sim/data/element.h"

namespace tessera::mlp {

namespace {

constexpr std::uint32_t kExactSteps = 20;  // before rounding has grown into another training
constexpr double kPoints = 0.02;           // that accuracies may differ by, and ...
constexpr double kDeviations = 3;          // ... so many standard deviations of the samples seen
constexpr std::uint64_t kSampledFlops = 2'000'000'000;

/// How far a loss may be off after `step` updates: sums of `depth` products, rounded some times on
/// the way, in every step again. In f16 both sides round sums to f16, and few of these alike sums
/// to different numbers: a share of about u32 / u16 of them by u16, so that the root of the mean
/// square is that of the product.
double allowed(double loss, double roundoff, std::uint32_t step) {
  return roundoff * (1 + std::abs(loss)) * (step + 1);
}
double roundoff(std::uint32_t depth, program::Type type) {
  constexpr double kRoundings = 2;
  return kRoundings * std::sqrt(double(depth)) *
         std::sqrt(data::unit_roundoff(type) * data::unit_roundoff(program::Type::f32));
}

/// Where a training is unstable, differences grow faster: so many times as far as they do between
/// two plain trainings with parameters and gradients such a rounding apart. Adam is where gradients
/// are of their rounding's size: it follows these as far as any.
constexpr double kSpreads = 8;

/// The first step whose gradients overflowed at a scale that does not change, or none.
std::string overflowed(const std::vector<StepResult>& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (steps[i].skipped)
      return fmt::format(
          "gradients overflow f16 in step {} of {} at a loss scale of {} (workload.loss_scale: a "
          "smaller one, or dynamic)",
          i + 1, steps.size(), steps[i].scale);
  return {};
}

/// The first step whose loss is no number, or none.
std::string not_finite(const std::vector<StepResult>& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (!std::isfinite(steps[i].loss))
      return fmt::format("the loss is {} in step {} of {}", steps[i].loss, i + 1, steps.size());
  return {};
}

}  // namespace

double Mlp::learned_gamma(const TensorReader& tensors, std::size_t map) {
  HostThreads threads(1);
  return static_cast<double>(tensors.floats(fmt::format("weights_{}_gamma", map), threads).front());
}

CheckResult Mlp::check(const TensorReader& tensors, const CheckRequest& request) const {
  const std::vector<StepResult> found = training::step_results(tensors, training::kTrainingResults);
  const std::vector<StepResult> tested = training::step_results(tensors, training::kTestResults);
  const bool full = compares_all(request.mode, useful_flops());
  CheckResult result{.bound = 1, .method = full ? "full" : "sample"};
  result.problem = not_finite(found);
  if (result.problem.empty()) result.problem = not_finite(tested);
  if (result.problem.empty() && !options_.scaling.changes()) result.problem = overflowed(found);
  if (!result.problem.empty()) {
    result.max_error = std::numeric_limits<double>::infinity();
    return result;
  }
  const std::uint64_t flops_a_step = std::max<std::uint64_t>(useful_flops() / steps(), 1);
  const auto sampled = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(kSampledFlops / flops_a_step, 1, steps()));
  const Trained expected =
      train_plainly(options_, data_, linears_, full ? steps() : sampled, full ? test_steps() : 0);
  std::uint32_t depth = options_.batch;
  for (const Linear& linear : linears_) depth = std::max(depth, linear.columns());
  const double unit = roundoff(depth, options_.dtype);
  const auto compared = std::min<std::size_t>(expected.training.size(), kExactSteps);
  std::optional<Trained> nudged;
  const auto another = [&]() -> const Trained& {
    if (!nudged) nudged = train_plainly(options_, data_, linears_, word(compared), 0, unit);
    return *nudged;
  };
  for (std::uint32_t step = 0; step < compared; ++step) {
    const StepResult& wanted = expected.training[step];
    const double difference = std::abs(found[step].loss - wanted.loss);
    double may = allowed(wanted.loss, unit, step);
    if (difference > may) may += kSpreads * std::abs(another().training[step].loss - wanted.loss);
    ++result.compared;
    if (found[step].skipped != wanted.skipped && result.problem.empty())
      result.problem = fmt::format("step {} is {}, expected {}", step + 1,
                                   found[step].skipped ? "skipped" : "none that is skipped",
                                   wanted.skipped ? "one that is" : "none");
    if (difference / may <= result.max_error) continue;
    result.max_error = difference / may;
    if (result.max_error > 1)
      result.problem = fmt::format("the loss of step {} is {:.9g}, expected {:.9g}", step + 1,
                                   found[step].loss, wanted.loss);
  }
  for (std::size_t i = 0; i < linears_.size(); ++i) {
    if (!linears_[i].learns_gamma() || compared < steps()) continue;
    const double is = learned_gamma(tensors, i);
    const double wanted = expected.weights[i].back();
    double may = allowed(wanted, unit, word(compared));
    if (!(std::abs(is - wanted) <= may))
      may += kSpreads * std::abs(another().weights[i].back() - wanted);
    ++result.compared;
    if (std::abs(is - wanted) <= may) continue;
    result.max_error = std::max(result.max_error, std::abs(is - wanted) / may);
    if (result.problem.empty())
      result.problem = fmt::format("gamma of map {} is {:.9g}, expected {:.9g}", i, is, wanted);
  }
  if (full && !tested.empty() && result.problem.empty()) {
    const double is = training::accuracy(tested, options_.batch);
    const double wanted = training::accuracy(expected.test, options_.batch);
    const double samples = double(tested.size()) * options_.batch;
    const double may = kPoints + kDeviations * std::sqrt(wanted * (1 - wanted) / samples);
    if (std::abs(is - wanted) > may)
      result.problem = fmt::format(
          "the accuracy on test samples is {:.4f}, expected {:.4f} +- {:.4f}", is, wanted, may);
  }
  result.passed = result.problem.empty();
  return result;
}

}  // namespace tessera::mlp
