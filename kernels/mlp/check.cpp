#include "kernels/check/check.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/mlp/reference.h"
#include "kernels/mlp/scatter.h"

namespace tessera::mlp {

namespace {

/// Operations of each sampled training, whose steps are not all repeated, and of its tests.
constexpr std::uint64_t kSampledFlops = 1'000'000'000;

/// The first step whose loss is not finite; the number of steps if there is none.
std::size_t finite_steps(const std::vector<StepResult>& steps) {
  const auto found =
      std::ranges::find_if(steps, [](const StepResult& step) { return !std::isfinite(step.loss); });
  return static_cast<std::size_t>(found - steps.begin());
}

using kernels::Compared;

/// Compares the run's results with plain trainings, the first of which is not perturbed.
class Comparisons {
 public:
  Comparisons(const Trained& found, const std::vector<Trained>& trained,
              const CheckRequest& request, HostThreads& threads)
      : found_(found),
        trained_(trained),
        request_(request),
        threads_(threads),
        steps_(trained.front().training.size()) {}

  /// Compares the results of all steps whose losses have a significant digit.
  void training() {
    comparable_ = std::min(finite(), steps_);
    if (result.passed) comparable_ = significant();
    const auto all = [](std::size_t) { return true; };
    compare("loss", &Trained::training, &StepResult::loss, comparable_, all);
    compare("right", &Trained::training, &StepResult::right, comparable_, all);
    compare("loss_scale", &Trained::training, &StepResult::scale, comparable_, all);
    compare("skipped", &Trained::training, &StepResult::skipped, comparable_, all);
  }

  /// Compares tests, which the plain networks run with the parameters found. A test whose loss is
  /// finite in only some trainings is skipped, and so are all if the training diverged, since sums
  /// beyond f32 depend on their order.
  void tests() {
    if (diverges_) return;
    const auto says_something = [this](std::size_t step) {
      const auto diverging = std::ranges::count_if(
          trained_, [&](const Trained& each) { return !std::isfinite(each.test[step].loss); });
      const bool all = diverging == std::ssize(trained_);
      return diverging == 0 || (all && std::isfinite(found_.test[step].loss));
    };
    const std::size_t steps = trained_.front().test.size();
    compare("test_loss", &Trained::test, &StepResult::loss, steps, says_something);
    compare("test_right", &Trained::test, &StepResult::right, steps, says_something);
  }

  /// Compares the parameters of one map, if their change has a significant digit.
  void parameters(std::size_t map, const TrainedParameters& its) {
    if (diverges_ || !change_is_significant(its)) {
      left_out_.push_back(fmt::format("{}", map));
      return;
    }
    const std::vector<double> allowed = allowed_of(its);
    const auto says = [map](const Compared& one) {
      return fmt::format("parameter {} of map {} is {:.9g}, expected {:.9g}", one.row, map,
                         one.found, one.expected);
    };
    take({.says = says}, allowed.size(), [&](std::uint64_t i, kernels::Comparison& into) {
      into.add({i, 0, its.found[i], its.trained.front()[i], allowed[i]});
    });
    const OverallComparison together = compared_together(its);
    const auto says_size = [map](const Compared& one) {
      return fmt::format(
          "parameters of map {} differ by {:.3g} standard deviations in the mean, allowed {:.3g}",
          map, one.found, one.allowed);
    };
    take({.says = says_size}, 1,
         [&](std::uint64_t, kernels::Comparison& into) { into.add(together.size); });
    const auto says_share = [map](const Compared& one) {
      return fmt::format("parameters of map {} have changed by {:.3g} % too {}", map,
                         100 * std::abs(one.found), one.found < 0 ? "little" : "much");
    };
    take({.says = says_share}, 1,
         [&](std::uint64_t, kernels::Comparison& into) { into.add(together.share); });
  }

  /// The values that are not compared, and why; empty: none.
  [[nodiscard]] std::string note() const {
    std::string text;
    if (diverges_)
      text = fmt::format("plain training diverges too: nothing is compared from step {} of {}",
                         comparable_ + 1, steps_);
    else if (comparable_ < steps_)
      text =
          fmt::format("losses after step {} of {} have no significant digit", comparable_, steps_);
    if (left_out_.empty() || diverges_) return text;
    return fmt::format("{}{}changes of parameters of map {} have no significant digit", text,
                       text.empty() ? "" : "; ", fmt::join(left_out_, ", "));
  }

  CheckResult result{.passed = true, .bound = 1};

 private:
  template <class Compare>
  void take(const kernels::Comparison::Result& what, std::uint64_t elements,
            const Compare& compare) {
    if (elements == 0) return;
    result = kernels::worse(
        result,
        kernels::check(kernels::one_by_one(what, elements, elements, compare), request_, threads_));
  }

  /// Compares a reported number in those of the first `steps` that `says_something` selects.
  template <class Number, class Chosen>
  void compare(std::string_view tensor, std::vector<StepResult> Trained::*which,
               Number StepResult::*number, std::size_t steps, const Chosen& says_something) {
    take(training::reported_result(tensor), steps, [&](std::uint64_t i, kernels::Comparison& into) {
      if (!says_something(i)) return;
      std::vector<double> all;
      for (const Trained& each : trained_) all.push_back((each.*which)[i].*number);
      const bool rounded = tensor.ends_with("loss");
      Compared one =
          compared((found_.*which)[i].*number, all, rounded ? 0x1p-24 * std::abs(all.front()) : 0);
      one.row = i;
      into.add(one);
    });
  }

  /// Steps before the first loss that is not finite. It may be earlier or later than in the plain
  /// trainings by as many steps as these differ, plus kSlack.
  std::size_t finite() {
    constexpr std::size_t kSlack = 2;
    std::size_t first = steps_;
    std::size_t last = 0;
    for (const Trained& each : trained_) {
      first = std::min(first, finite_steps(each.training));
      last = std::max(last, finite_steps(each.training));
    }
    const std::size_t found = std::min(finite_steps(found_.training), steps_);
    const std::size_t slack = last - first + kSlack;
    const bool agrees =
        first == steps_ ? found == steps_ : found + slack >= first && found <= last + slack;
    const std::size_t step = std::min(found, first);
    if (!agrees) {
      result.passed = false;
      result.max_error = std::numeric_limits<double>::infinity();
      result.problem = fmt::format("the loss is {:.9g} in step {} of {}, expected {:.9g}",
                                   found_.training[step].loss, step + 1, steps_,
                                   trained_.front().training[step].loss);
    }
    diverges_ = step < steps_;
    return step;
  }

  /// Steps up to the last whose loss has a significant digit: perturbed trainings differ by less
  /// than losses are large.
  std::size_t significant() {
    double mean = 0;
    for (std::size_t i = 0; i < comparable_; ++i)
      mean += std::abs(trained_.front().training[i].loss) / static_cast<double>(comparable_);
    std::size_t end = comparable_;
    const auto has_digits = [&](std::size_t step) {
      std::vector<double> all;
      for (const Trained& each : trained_) all.push_back(each.training[step].loss);
      return kDeviations * deviation(all) < std::max(mean, std::abs(all.front()));
    };
    while (end > 0 && !has_digits(end - 1)) --end;
    return end;
  }

  const Trained& found_;
  const std::vector<Trained>& trained_;
  const CheckRequest& request_;
  HostThreads& threads_;
  std::size_t steps_;
  std::size_t comparable_ = 0;  ///< steps
  bool diverges_ = false;
  std::vector<std::string> left_out_;  ///< maps
};

Trained found_in(const TensorReader& tensors, std::size_t maps, HostThreads& threads) {
  Trained found{training::step_results(tensors, training::kTrainingResults),
                training::step_results(tensors, training::kTestResults),
                {}};
  for (std::size_t i = 0; i < maps; ++i) {
    const std::string name = fmt::format("weights_{}", i);
    std::vector<float>& all = found.parameters.emplace_back(tensors.floats(name, threads));
    for (const char* part : {"_bias", "_gamma"})
      if (tensors.has(name + part))
        for (const float each : tensors.floats(name + part, threads)) all.push_back(each);
  }
  return found;
}

}  // namespace

double Mlp::learned_gamma(const TensorReader& tensors, std::size_t map) {
  HostThreads threads(1);
  return static_cast<double>(tensors.floats(fmt::format("weights_{}_gamma", map), threads).front());
}

CheckResult Mlp::check(const TensorReader& tensors, const CheckRequest& request) const {
  HostThreads threads(request.threads);
  const Trained found = found_in(tensors, linears_.size(), threads);
  const bool full = compares_all(request.mode, useful_flops());
  const std::uint64_t flops_a_step = std::max<std::uint64_t>(useful_flops() / steps(), 1);
  const auto sampled = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(kSampledFlops / flops_a_step, 1, steps()));
  Extent extent{turns_, found.parameters};
  if (!full) {
    extent.turns.steps = sampled;
    extent.turns.test_steps = std::min(sampled, turns_.test_steps);
  }
  std::vector<std::vector<double>> initial;
  for (std::size_t i = 0; i < linears_.size(); ++i)
    initial.push_back(initial_parameters(options_.seed, i, linears_[i]));
  // Untrained weights are stored in the type of products.
  const program::Type kept = options_.train ? program::Type::f32 : options_.dtype;
  std::vector<Trained> trained;
  for (std::size_t wanted = 1 + kFirstTrainings;; wanted *= 2) {
    std::vector<std::uint64_t> seeds;
    for (std::size_t seed = trained.size(); seed < wanted; ++seed) seeds.push_back(seed);
    for (Trained& each : train_plainly(options_, data_, linears_, extent, seeds, threads))
      trained.push_back(std::move(each));
    Comparisons comparison(found, trained, request, threads);
    comparison.training();
    for (std::size_t i = 0; i < linears_.size() && extent.turns.steps == steps(); ++i) {
      TrainedParameters its{found.parameters[i], {}, initial[i], kept, options_.halves()};
      for (const Trained& each : trained) its.trained.emplace_back(each.parameters[i]);
      comparison.parameters(i, its);
    }
    comparison.tests();
    CheckResult& result = comparison.result;
    if (!result.passed && trained.size() <= kMostTrainings) continue;
    result.method = full ? "full" : "sample";
    result.note = comparison.note();
    if (extent.turns.steps < steps())
      result.note = fmt::format("{} of {} steps and {} of {} tests are compared{}{}",
                                extent.turns.steps, steps(), extent.turns.test_steps,
                                turns_.test_steps, result.note.empty() ? "" : "; ", result.note);
    return result;
  }
}

}  // namespace tessera::mlp
