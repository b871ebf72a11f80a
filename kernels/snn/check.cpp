#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/snn/program.h"
#include "kernels/snn/reference.h"

namespace tessera::snn {

namespace {

using training::step_results;
using training::StepResult;

constexpr std::uint64_t kSampledFlops = 2'000'000'000;

/// How far a loss may be off that is the same sum in the same order; sqrt and division round as on
/// the tile.
double allowed(double loss) { return 1e-6 * (1 + std::abs(loss)); }

/// The same where sums have another order: a neuron that stands at its threshold may spike or not,
/// from step to step more of them.
double allowed_dense(double loss, std::size_t step) {
  return 2e-3 * (1 + std::abs(loss)) * static_cast<double>(step + 1);
}

}  // namespace

/// What a run did, done again plainly.
class SnnReplay {
 public:
  explicit SnnReplay(const Snn& snn)
      : snn_(snn), weights_(snn.network_), network_(weights_, snn.plan_, snn.setting()) {}

  StepResult turn(std::uint64_t number, std::uint64_t first, std::uint64_t samples, bool trains) {
    const bool fed = snn_.options_.feed == Feed::host || first > 0;
    std::vector<PlainNetwork::Sample> batch;
    for (std::uint32_t b = 0; b < snn_.options_.batch; ++b) {
      const std::uint64_t sample = first + ((fed ? number : 0) * snn_.options_.batch + b) % samples;
      batch.push_back({sample, snn_.data_.label(sample)});
    }
    const auto outcome = network_.look(batch, [&](std::uint64_t sample, std::uint32_t step) {
      return snn_.data_.events(sample, step);
    });
    if (trains) {
      network_.find_gradients();
      network_.update();
    }
    add_totals();
    return {double(outcome.loss), double(outcome.right)};
  }
  [[nodiscard]] const PlainNetwork& network() const { return network_; }
  /// Of a vector's lists in all turns, as tiles count them.
  [[nodiscard]] const std::vector<std::uint32_t>& totals(VectorId vector) const {
    return totals_[vector];
  }

 private:
  void add_totals() {
    for (VectorId v = 1; v < totals_.size(); ++v) {
      totals_[v].resize(std::size_t{kTotals} * snn_.options_.batch);
      for (std::uint32_t b = 0; b < snn_.options_.batch; ++b) {
        std::uint32_t* const total = &totals_[v][std::size_t{kTotals} * b];
        for (std::uint32_t t = 1; t <= snn_.options_.time_steps; ++t) {
          const List& list = network_.list(v, b, t);
          total[0] += list.spikes;
          total[1] += word(list.ids.size());
          total[2] += list.left_out > 0 ? 1 : 0;
          total[3] += list.left_out % kCarrierMark;
          total[4] += list.left_out / kCarrierMark;
        }
      }
    }
  }

  const Snn& snn_;
  Network weights_;
  PlainNetwork network_;
  std::vector<std::vector<std::uint32_t>> totals_{snn_.plan_.lists.size()};
};

CheckResult Snn::check(const TensorReader& tensors, const CheckRequest& request) const {
  if (request.mode == CheckMode::off) return {.passed = true, .bound = 1, .method = "off"};
  const std::vector<StepResult> trained = step_results(tensors, training::kTrainingResults);
  const std::vector<StepResult> tested = step_results(tensors, training::kTestResults);
  const bool full = compares_all(request.mode, useful_flops());
  CheckResult result{.bound = 1, .method = full ? "full" : "sample"};
  const std::uint64_t a_turn = std::max<std::uint64_t>(useful_flops() / options_.steps, 1);
  const auto turns = static_cast<std::uint32_t>(
      full ? options_.steps : std::clamp<std::uint64_t>(kSampledFlops / a_turn, 1, options_.steps));
  SnnReplay replay(*this);
  HostThreads threads(request.threads);
  const auto compare = [&](const char* what, std::size_t i, const StepResult& found,
                           const StepResult& expected) {
    const double loss = expected.loss;
    const double off =
        std::abs(found.loss - loss) / (dense_ ? allowed_dense(loss, i) : allowed(loss));
    result.compared += 2;
    const bool wrong = !(off <= 1) || (!dense_ && found.right != expected.right);
    result.max_error = std::max(result.max_error, std::isnan(off) ? 1e300 : off);
    if (wrong && result.problem.empty())
      result.problem = fmt::format(
          "the loss of {} {} is {:.9g} with {} samples right, expected "
          "{:.9g} with {}",
          what, i + 1, found.loss, found.right, expected.loss, expected.right);
  };
  for (std::uint32_t i = 0; i < turns; ++i)
    compare("step", i, trained[i], replay.turn(i, 0, options_.data.samples, options_.train));
  if (turns == options_.steps) {
    for (std::size_t i = 0; full && i < tested.size(); ++i)
      compare("test batch", i, tested[i],
              replay.turn(i, options_.data.samples, options_.data.test_samples, false));
    if (!dense_ && (full || tested.empty()))
      compare_lists(tensors, threads, replay.network(), result);
    for (VectorId v = 1; full && !dense_ && v < plan_.lists.size(); ++v) {
      if (plan_.lists[v].capacity == 0) continue;
      result.compared += replay.totals(v).size();
      if (words_of(tensors, totals_name(v), threads) == replay.totals(v)) continue;
      result.max_error = std::max(result.max_error, 2.0);
      if (result.problem.empty())
        result.problem = fmt::format("layer {} counts other spikes than expected", v - 1);
    }
  }
  result.passed = result.problem.empty();
  return result;
}

/// All lists of the last batch, id by id.
void Snn::compare_lists(const TensorReader& tensors, HostThreads& threads,
                        const PlainNetwork& expected, CheckResult& result) const {
  for (VectorId v = 1; v < plan_.lists.size(); ++v) {
    if (plan_.lists[v].capacity == 0) continue;
    const std::uint32_t words = list_words(plan_.lists[v].capacity);
    const auto found = words_of(tensors, lists_name(v), threads);
    const std::uint32_t* is = found.data();
    for (std::uint32_t b = 0; b < options_.batch; ++b) {
      for (std::uint32_t t = 0; t <= options_.time_steps; ++t, is += words) {
        const List& list = expected.list(v, b, t);
        result.compared += list.ids.size() + 2;
        if (is[0] == list.spikes && is[1] == list.ids.size() &&
            std::equal(list.ids.begin(), list.ids.end(), is + kListHeader))
          continue;
        result.max_error = std::max(result.max_error, 2.0);
        if (result.problem.empty())
          result.problem = fmt::format(
              "layer {} lists {} spikes and {} ids for sample {} at step "
              "{}, expected {} and {}, or others",
              v - 1, is[0], is[1], b, t, list.spikes, list.ids.size());
      }
    }
  }
}

}  // namespace tessera::snn
