#include "kernels/snn/check.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace tessera::snn {

namespace {

using training::step_results;
using training::StepResult;

/// Up to here all is done again: it takes a tenth of the run's time.
constexpr std::uint64_t kMostReferenceFlops = 100'000'000'000;
constexpr std::uint64_t kSampledFlops = 2'000'000'000;

/// Zeros of either sign are equal; what is no number equals what is none.
bool same(double found, double expected) {
  return found == expected || (std::isnan(found) && std::isnan(expected));
}

}  // namespace

SnnCheck::SnnCheck(const Snn& snn, const TensorReader& tensors, unsigned threads)
    : snn_(snn),
      options_(snn.options_),
      plan_(snn.plan_),
      tensors_(tensors),
      threads_(threads),
      weights_(snn.network_),
      totals_(snn.plan_.lists.size()) {
  if (snn.dense_)
    network_ =
        std::make_unique<PlainDenseNetwork>(weights_, plan_, snn.setting(), *snn.dense_, threads_);
  else
    network_ = std::make_unique<PlainNetwork>(weights_, plan_, snn.setting(), threads_);
}

CheckResult SnnCheck::run(bool full, std::uint64_t seed) {
  const std::vector<StepResult> trained = step_results(tensors_, training::kTrainingResults);
  const std::vector<StepResult> tested = step_results(tensors_, training::kTestResults);
  const std::uint64_t a_turn = std::max<std::uint64_t>(snn_.useful_flops() / options_.steps, 1);
  const std::uint64_t turns =
      full ? options_.steps : std::clamp<std::uint64_t>(kSampledFlops / a_turn, 1, options_.steps);
  for (std::uint32_t i = 0; i < turns; ++i)
    compare_results("step", i, trained[i],
                    run_reference({i, 0, options_.data.samples}, options_.train));
  compare_fed();
  const bool all = turns == options_.steps;
  if (all || !options_.train) compare_weights();
  for (std::uint32_t i = 0; full && i < tested.size(); ++i)
    compare_results("test batch", i, tested[i], run_reference(test(i), false));
  if (full || (all && tested.empty())) compare_lists();
  if (full) compare_totals();
  // Of a batch that was trained on, the weights before their last change are not known.
  if (!full && (!tested.empty() || !options_.train)) compare_neurons(seed);
  result_.method = full ? "full" : "sample";
  result_.replayed = result_.compared;
  result_.passed = result_.problem.empty();
  return result_;
}

SnnCheck::Turn SnnCheck::test(std::uint64_t number) const {
  return {number, options_.data.samples, options_.data.test_samples};
}

std::uint64_t SnnCheck::sample(const Turn& turn, std::uint32_t place) const {
  const bool fed = options_.feed == Feed::host || turn.first > 0;
  return turn.first + ((fed ? turn.number : 0) * options_.batch + place) % turn.samples;
}

StepResult SnnCheck::run_reference(const Turn& turn, bool trains) {
  const Data& data = snn_.data_;
  std::vector<PlainNetwork::Sample> batch;
  for (std::uint32_t b = 0; b < options_.batch; ++b)
    batch.push_back({sample(turn, b), data.label(sample(turn, b))});
  const auto outcome = network_->look(batch, [&data](std::uint64_t number, std::uint32_t step) {
    return data.events(number, step);
  });
  if (trains) {
    network_->find_gradients();
    network_->update();
  }
  add_totals();
  return {double(outcome.loss), double(outcome.right)};
}

void SnnCheck::add_totals() {
  for (VectorId v = 1; v < totals_.size(); ++v) {
    totals_[v].resize(std::size_t{kTotals} * options_.batch);
    for (std::uint32_t b = 0; b < options_.batch; ++b) {
      std::uint32_t* const total = &totals_[v][std::size_t{kTotals} * b];
      for (std::uint32_t t = 1; t <= options_.time_steps; ++t) {
        const List& list = network_->list(v, b, t);
        total[0] += list.spikes;
        total[1] += word(list.ids.size());
        total[2] += list.left_out > 0 ? 1 : 0;
        total[3] += list.left_out % kCarrierMark;
        total[4] += list.left_out / kCarrierMark;
      }
    }
  }
}

void SnnCheck::compare_results(const char* what, std::size_t number, const StepResult& found,
                               const StepResult& expected) {
  result_.compared += 2;
  if (same(found.loss, expected.loss) && same(found.right, expected.right)) return;
  blame(std::max(std::abs(found.loss - expected.loss), std::abs(found.right - expected.right)),
        fmt::format("the loss of {} {} is {:.9g} with {} samples right, expected {:.9g} with {}",
                    what, number + 1, found.loss, found.right, expected.loss, expected.right));
}

/// The events of the last batch, as its tiles hold them to the end.
void SnnCheck::compare_fed() {
  if (!holds(0)) return;
  const bool tests = snn_.test_steps() > 0;
  const Turn last =
      tests ? test(snn_.test_steps() - 1) : Turn{options_.steps - 1, 0, options_.data.samples};
  for (std::uint32_t b = 0; b < options_.batch; ++b) {
    const std::vector<std::byte> found = tensors_.slice(lists_name(0), b);
    std::vector<std::byte> expected(found.size());
    fill_events(snn_.data_, sample(last, b), options_.time_steps, expected);
    result_.compared += found.size() / sizeof(std::uint32_t);
    if (found != expected)
      blame(1, fmt::format("events of the last batch's sample {} are not those of sample {} of the "
                           "data",
                           b, sample(last, b)));
  }
}

/// Weights after training, and what the optimiser keeps of them.
void SnnCheck::compare_weights() {
  for (std::uint32_t l = 0; l < weights_.layers.size(); ++l) {
    const Layer& layer = weights_.layers[l];
    compare_numbers(weights_name(l, false), layer.weights);
    if (layer.recurrent()) compare_numbers(weights_name(l, true), layer.recurrent_weights);
    if (!options_.train) continue;
    compare_moments(l, Kept::first_moments, network_->first_moments(l));
    if (options_.learning.optimiser == training::Optimiser::adam)
      compare_moments(l, Kept::second_moments, network_->second_moments(l));
  }
}

void SnnCheck::compare_moments(std::uint32_t layer, Kept kept, std::span<const float> expected) {
  const std::size_t inputs = weights_.layers[layer].weights.size();
  compare_numbers(weights_name(layer, false, kept), expected.first(inputs));
  if (expected.size() > inputs)
    compare_numbers(weights_name(layer, true, kept), expected.subspan(inputs));
}

void SnnCheck::compare_numbers(const std::string& name, std::span<const float> expected) {
  const std::vector<float> found = tensors_.floats(name, threads_);
  result_.compared += found.size();
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto is = double(found[i]);
    const auto wanted = double(expected[i]);
    if (same(is, wanted)) continue;
    const std::size_t columns = tensors_.tensor(name).shape[1];
    blame(std::abs(is - wanted), fmt::format("{}[{}, {}] is {:.9g}, expected {:.9g}", name,
                                             i / columns, i % columns, is, wanted));
  }
}

/// All lists of the last batch, id by id.
void SnnCheck::compare_lists() {
  for (VectorId v = 1; v < plan_.lists.size(); ++v) {
    if (!holds(v)) continue;
    const std::uint32_t words = list_words(plan_.lists[v].capacity);
    const auto found = words_of(tensors_, lists_name(v), threads_);
    const std::uint32_t* is = found.data();
    for (std::uint32_t b = 0; b < options_.batch; ++b) {
      for (std::uint32_t t = 0; t <= options_.time_steps; ++t, is += words) {
        const List& list = network_->list(v, b, t);
        result_.compared += list.ids.size() + 2;
        if (is[0] == list.spikes && is[1] == list.ids.size() &&
            std::equal(list.ids.begin(), list.ids.end(), is + kListHeader))
          continue;
        blame(1, fmt::format("layer {} lists {} spikes and {} ids for sample {} at step {}, "
                             "expected {} and {}, or others",
                             v - 1, is[0], is[1], b, t, list.spikes, list.ids.size()));
      }
    }
  }
}

/// What tiles counted in all turns.
void SnnCheck::compare_totals() {
  for (VectorId v = 1; v < plan_.lists.size(); ++v) {
    if (!holds(v)) continue;
    result_.compared += totals_[v].size();
    if (words_of(tensors_, totals_name(v), threads_) != totals_[v])
      blame(1, fmt::format("layer {} counts other spikes than expected", v - 1));
  }
}

void SnnCheck::blame(double error, const std::string& problem) {
  if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
  result_.max_error = std::max(result_.max_error, error);
  if (result_.problem.empty()) result_.problem = problem;
}

CheckResult Snn::check(const TensorReader& tensors, const CheckRequest& request) const {
  const bool full = compares_all(request.mode, useful_flops(), kMostReferenceFlops);
  return SnnCheck(*this, tensors, request.threads).run(full, request.seed);
}

}  // namespace tessera::snn
