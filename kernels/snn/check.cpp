#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/snn/program.h"
#include "kernels/snn/reference.h"

namespace tessera::snn {

namespace {

using training::accuracy;
using training::step_results;
using training::StepResult;

constexpr std::uint64_t kSampledFlops = 2'000'000'000;

std::vector<std::uint32_t> words_of(const TensorReader& tensors, const std::string& name,
                                    HostThreads& threads) {
  const std::vector<std::byte> bytes = tensors.bytes(name, threads);
  std::vector<std::uint32_t> words(bytes.size() / sizeof(std::uint32_t));
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

/// How far a loss may be off that is the same sum in the same order; sqrt and division round as on
/// the tile.
double allowed(double loss) { return 1e-6 * (1 + std::abs(loss)); }

/// The same where sums have another order: a neuron that stands at its threshold may spike or not,
/// from step to step more of them.
double allowed_dense(double loss, std::size_t step) {
  return 2e-3 * (1 + std::abs(loss)) * static_cast<double>(step + 1);
}

}  // namespace

nlohmann::ordered_json Snn::results(const TensorReader& tensors) const {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  const std::vector<StepResult> trained = step_results(tensors, training::kTrainingResults);
  const std::vector<StepResult> tested = step_results(tensors, training::kTestResults);
  if (!tested.empty()) json["test_accuracy"] = accuracy(tested, options_.batch);
  json["training_accuracy"] = accuracy(trained, options_.batch);
  nlohmann::ordered_json losses = nlohmann::ordered_json::array();
  for (const StepResult& result : trained) losses.push_back(result.loss);
  json["loss"] = std::move(losses);
  if (dense_) return json;
  const double steps =
      static_cast<double>(options_.time_steps) * (options_.steps + test_steps()) * options_.batch;
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  double events = 0;
  HostThreads one(1);
  for (VectorId v = 1; v < plan_.lists.size(); ++v) {
    if (plan_.lists[v].capacity == 0) continue;
    double spikes = 0;
    double listed = 0;
    double overflows = 0;
    double most = 0;
    const auto totals = words_of(tensors, fmt::format("totals_{}", v - 1), one);
    for (std::size_t b = 0; b < totals.size(); b += 3) {
      spikes += totals[b];
      listed += totals[b + 1];
      overflows += totals[b + 2];
      most = std::max(most, double(totals[b]));
    }
    if (v < network_.layers.size()) events += spikes * network_.layers[v].neurons;
    if (network_.layers[v - 1].recurrent()) events += spikes * network_.layers[v - 1].neurons;
    const double mean = spikes / options_.batch;
    layers.push_back({{"spikes_a_step", spikes / steps},
                      {"listed_a_step", listed / steps},
                      {"overflowed_lists", overflows},
                      {"activity", spikes / steps / network_.layers[v - 1].neurons},
                      {"imbalance_of_samples", mean > 0 ? most / mean : 1}});
  }
  json["layers"] = std::move(layers);
  if (test_steps() == 0) json["counts"] = counts(events);
  json["raster"] = raster(tensors);
  return json;
}

/// What the measured turns did: `between` are the synaptic events of spikes, those of inputs are
/// known.
nlohmann::ordered_json Snn::counts(double between) const {
  std::uint64_t inputs = 0;
  for (std::uint64_t number = 0; number < std::uint64_t{options_.steps} * options_.batch;
       ++number) {
    const bool fed = options_.feed == Feed::host;
    const std::uint64_t sample = (fed ? number : number % options_.batch) % options_.data.samples;
    for (std::uint32_t t = 0; t < options_.time_steps; ++t)
      inputs += data_.events(sample, t).size();
  }
  const std::uint64_t inferences = std::uint64_t{options_.steps} * options_.batch;
  const std::uint64_t events =
      inputs * network_.layers.front().neurons + static_cast<std::uint64_t>(between);
  return {{"inferences", inferences},
          {"neuron_updates", inferences * options_.time_steps * network_.neurons()},
          {"synaptic_events", events}};
}

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
    return {double(outcome.loss), double(outcome.right)};
  }
  [[nodiscard]] const PlainNetwork& network() const { return network_; }

 private:
  const Snn& snn_;
  Network weights_;
  PlainNetwork network_;
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
