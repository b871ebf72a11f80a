#include "kernels/check/check.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/snn/program.h"
#include "kernels/snn/reference.h"

namespace tessera::snn {

namespace {

/// Up to this many all batches are repeated, in about a tenth of the run's time.
constexpr std::uint64_t kMostReferenceFlops = 100'000'000'000;
constexpr std::uint64_t kSampledFlops = 2'000'000'000;

}  // namespace

/// Repeats a run with the reference and compares. The reference makes every rounding where the
/// machine makes it, so nothing may differ: losses, lists, counts, weights, moments, events.
class SnnCheck {
 public:
  /// Both outlive it.
  SnnCheck(const Snn& snn, const TensorReader& tensors, const CheckRequest& request)
      : snn_(snn),
        options_(snn.options_),
        plan_(snn.plan_),
        tensors_(tensors),
        request_(request),
        threads_(request.threads),
        weights_(snn.network_),
        totals_(snn.plan_.lists.size()) {
    if (snn.dense_)
      network_ = std::make_unique<PlainDenseNetwork>(weights_, plan_, snn.setting(), *snn.dense_,
                                                     snn.machine_.tiles, threads_);
    else
      network_ = std::make_unique<PlainNetwork>(weights_, plan_, snn.setting(), threads_);
  }

  /// `full`: all batches; else the first ones, up to kSampledFlops, and the last one.
  CheckResult run(bool full) {
    const training::Turns& turns = snn_.turns_;
    const std::uint64_t a_turn = std::max<std::uint64_t>(snn_.useful_flops() / turns.steps, 1);
    const std::uint64_t count =
        full ? turns.steps : std::clamp<std::uint64_t>(kSampledFlops / a_turn, 1, turns.steps);
    const bool all = count == turns.steps;
    const bool tested = turns.test_steps > 0;
    take(turns.training, count, options_.train);
    compare_fed();
    if (all || !options_.train) compare_weights();
    if (full && tested) take(turns.testing, turns.test_steps, false);
    const bool was_last = full || (all && !tested);
    // After training on a batch the weights before its update are not known.
    const bool can_be_again = !snn_.dense_ && (tested || !options_.train);
    if (!was_last && can_be_again) look_at_last();
    if (was_last || can_be_again) compare_lists();
    if (full) compare_totals();
    result_.method = full ? "full" : "sample";
    return result_;
  }

 private:
  using Words = std::vector<std::uint32_t>;

  /// The last batch of the run: its set and its number in the set.
  [[nodiscard]] std::pair<const training::Batches&, std::uint64_t> last() const {
    const training::Turns& turns = snn_.turns_;
    if (turns.test_steps > 0) return {turns.testing, turns.test_steps - 1};
    return {turns.training, turns.steps - 1};
  }

  /// Repeats the last batch with the weights that tiles hold.
  void look_at_last() {
    for (std::uint32_t l = 0; l < weights_.layers.size(); ++l) {
      Layer& layer = weights_.layers[l];
      layer.weights = tensors_.floats(weights_name(l, false), threads_);
      if (layer.recurrent())
        layer.recurrent_weights = tensors_.floats(weights_name(l, true), threads_);
    }
    const auto [batches, number] = last();
    network_->look(snn_.data_, batches, number, options_.batch);
  }

  /// Repeats the first `count` batches; compares the losses and right answers reported for them.
  void take(const training::Batches& batches, std::uint64_t count, bool trains) {
    std::vector<float> losses, right;
    for (std::uint64_t number = 0; number < count; ++number) {
      const PlainNetwork::Outcome outcome =
          network_->look(snn_.data_, batches, number, options_.batch);
      losses.push_back(outcome.loss);
      right.push_back(outcome.right);
      if (trains) {
        network_->find_gradients();
        network_->update();
      }
      add_totals();
    }
    const std::string test = batches.first > 0 ? "test_" : "";
    for (const auto& [name, expected] : {std::pair{"loss", &losses}, {"right", &right}})
      compare<float>(training::reported_result(test + name), tensors_.floats(test + name, threads_),
                     *expected, 1);
  }

  void add_totals() {
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

  /// Compares the first numbers of a tensor, in rows of `columns`, bit by bit.
  template <class Number>
  void compare(kernels::Comparison::Result result, const std::vector<Number>& found,
               std::span<const Number> expected, std::uint64_t columns) {
    const auto add = [&](std::uint64_t i, kernels::Comparison& into) {
      into.add_bits({i / columns, i % columns, static_cast<double>(found[i]),
                     static_cast<double>(expected[i])});
    };
    result_ = kernels::worse(
        result_, kernels::check(one_by_one(std::move(result), expected.size(), columns, add),
                                request_, threads_));
  }

  /// Compares the events of the last batch, which tiles hold to the end.
  void compare_fed() {
    if (!holds(0)) return;
    const training::Batches& batches = last().first;
    const std::uint64_t number = last().second;
    const Words found = words_of(tensors_, lists_name(0), threads_);
    Words expected(found.size());
    const std::size_t words = found.size() / options_.batch;
    for (std::uint32_t b = 0; b < options_.batch; ++b)
      fill_events(snn_.data_, batches.sample(number, b), options_.time_steps,
                  std::as_writable_bytes(std::span(expected).subspan(b * words, words)));
    const auto says = [&](const kernels::Compared& one) {
      return fmt::format(
          "events of the last batch's sample {} are not those of sample {} of the data", one.row,
          batches.sample(number, one.row));
    };
    compare<std::uint32_t>({.says = says}, found, expected, words);
  }

  /// Compares the weights after training and the optimiser's state.
  void compare_weights() {
    for (std::uint32_t l = 0; l < weights_.layers.size(); ++l) {
      std::vector<float> weights = weights_.layers[l].weights;
      const std::vector<float>& own = weights_.layers[l].recurrent_weights;
      weights.insert(weights.end(), own.begin(), own.end());
      compare_matrix(l, Kept::weights, weights);
      if (!options_.train) continue;
      compare_matrix(l, Kept::first_moments, network_->first_moments(l));
      if (options_.learning.adam())
        compare_matrix(l, Kept::second_moments, network_->second_moments(l));
    }
  }

  /// Compares one number per weight; `expected` has the recurrent ones last.
  void compare_matrix(std::uint32_t layer, Kept kept, std::span<const float> expected) {
    for (const bool recurrent : {false, true}) {
      const std::string name = weights_name(layer, recurrent, kept);
      if (!tensors_.has(name)) continue;
      const std::vector<float> found = tensors_.floats(name, threads_);
      const auto says = [&](const kernels::Compared& one) {
        return fmt::format("{}[{}, {}] is {:.9g}, expected {:.9g}", name, one.row, one.column,
                           one.found, one.expected);
      };
      const auto these = recurrent ? expected.last(found.size()) : expected.first(found.size());
      compare<float>({.says = says}, found, these, weights_.layers[layer].neurons);
    }
  }

  /// Compares all lists of the last batch, id by id.
  void compare_lists() {
    for (VectorId v = 1; v < plan_.lists.size(); ++v) {
      if (!holds(v)) continue;
      const std::uint32_t words = list_words(plan_.lists[v].capacity);
      const std::uint32_t slots = options_.time_steps + 1;
      const Words found = words_of(tensors_, lists_name(v), threads_);
      Words expected = found;  // words behind the ids are undefined
      for (std::size_t i = 0; i < found.size(); i += words)
        write_list(network_->list(v, i / words / slots, word(i / words % slots)),
                   std::as_writable_bytes(std::span(expected).subspan(i, words)));
      const auto says = [&](const kernels::Compared& one) {
        const std::uint32_t* const is = &found[one.row * words];
        const std::uint32_t* const wanted = &expected[one.row * words];
        return fmt::format(
            "layer {} lists {} spikes and {} ids for sample {} at step {}, expected {} "
            "and {}, or others",
            v - 1, is[0], is[1], one.row / slots, one.row % slots, wanted[0], wanted[1]);
      };
      compare<std::uint32_t>({.says = says}, found, expected, words);
    }
  }

  /// Compares what tiles counted in all turns.
  void compare_totals() {
    for (VectorId v = 1; v < plan_.lists.size(); ++v) {
      if (!holds(v)) continue;
      const auto says = [v](const kernels::Compared&) {
        return fmt::format("layer {} counts other spikes than expected", v - 1);
      };
      compare<std::uint32_t>({.says = says}, words_of(tensors_, totals_name(v), threads_),
                             totals_[v], kTotals);
    }
  }

  /// True if the machine holds the vector's lists to the end.
  [[nodiscard]] bool holds(VectorId vector) const {
    return !snn_.dense_ && plan_.lists[vector].capacity > 0;
  }

  const Snn& snn_;
  const Options& options_;
  const Plan& plan_;
  const TensorReader& tensors_;
  CheckRequest request_;
  HostThreads threads_;
  Network weights_;
  std::unique_ptr<PlainNetwork> network_;
  CheckResult result_{.passed = true, .bound = 1};
  std::vector<Words> totals_;  ///< counts of vectors' lists in all turns, as on tiles
};

CheckResult Snn::check(const TensorReader& tensors, const CheckRequest& request) const {
  return SnnCheck(*this, tensors, request)
      .run(compares_all(request.mode, useful_flops(), kMostReferenceFlops));
}

}  // namespace tessera::snn
