#include "kernels/snn/snn.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/snn/program.h"
#include "kernels/snn/reference.h"
#include "sim/base/errors.h"
#include "sim/data/read_file.h"
#include "sim/machine/nodes.h"
#include "sim/plan/lower.h"

namespace tessera::snn {

namespace {

/// Mean events per step in the first steps of the first samples.
double mean_events(const Data& data, std::uint64_t samples, std::uint32_t steps) {
  constexpr std::uint64_t kLooked = 8;
  constexpr std::uint32_t kLookedSteps = 4096;
  samples = std::min(samples, kLooked);
  steps = std::min(steps, kLookedSteps);
  double events = 0;
  for (std::uint64_t sample = 0; sample < samples; ++sample)
    for (std::uint32_t t = 0; t < steps; ++t)
      events += static_cast<double>(data.events(sample, t).size());
  return events / (static_cast<double>(samples) * steps);
}

std::string problem_text(const Options& options) {
  const std::string network = options.network.empty()
                                  ? fmt::format("{} neurons", fmt::join(options.layers, "-"))
                                  : data::file_name(options.network);
  return fmt::format("{}, {} time steps, batch {} f32", network, options.time_steps, options.batch);
}

/// Bytes by which the fullest tile exceeds its SRAM, as estimated; 0 if the plan fits.
std::uint64_t missing_bytes(const plan::Found& found, const MachineConfig& machine) {
  const std::uint64_t room = sram_bytes(machine.tile);
  const std::uint64_t needed = program::total(found.memory);
  if (found.fits) return 0;
  return needed == 0 ? UINT64_MAX : std::max(needed, room + 1) - room;
}

}  // namespace

Snn::Snn(Options options, MachineCosts& costs)
    : options_(std::move(options)),
      machine_(costs.machine()),
      turns_(options_, options_.data.samples, options_.data.test_samples),
      data_(options_.data, options_.time_steps, options_.seed),
      network_(make_network(fitting(), data_.inputs(),
                            mean_events(data_, options_.data.samples, options_.time_steps))) {
  options_.learning.all_steps = turns_.steps;
  if (network_.outputs() != data_.classes())
    throw KeyError(options_.network.empty() ? "workload.layers" : "workload.network",
                   "found {} outputs of the last one, allowed {}, one per class{}",
                   network_.outputs(), data_.classes(), suiting(options_, network_));
  if (options_.activations == Activations::dense) {
    require_dense(options_);
    code_ = std::make_shared<training::TileCode>();
    dense_ =
        std::make_shared<std::vector<training::DensePlan>>(plan_dense(options_, network_, costs));
    options_.max_activity = 1;
  }
  plan_ = make_plan(network_, options_, data_.max_events(), {.neurons_per_tile = given_neurons()},
                    costs);
  if (!dense_) {
    require_room();
    expect();
  }
  const plan::Found found = choose_plan(costs);
  PlanKeys keys;
  if (dense_) keys.padding = dense_->front().padding;
  for (std::size_t l = 0; dense_ && l < dense_->size(); ++l)
    keys.products.push_back(training::keys_of((*dense_)[l]));
  summarise({.problem = problem_text(options_),
             .peak_type = "f32",
             .plan = to_json(dense_ ? keys : keys_of(plan_)),
             .prediction = found.prediction,
             .bytes_over = missing_bytes(found, machine_),
             .facts = facts_of(training::memory_of(describe(plan_).description)),
             .useful_flops = flops()});
}

std::uint32_t Snn::given_neurons() const {
  return options_.plan.layers.empty() ? options_.neurons_per_tile
                                      : options_.plan.layers.front().neurons_per_tile;
}

/// Returns the plans that pinned keys allow: published, and with marks as bits for each number of
/// tiles that search a sample. Without pinned list keys, layers begin `in_pairs` or not as given.
std::vector<Plan> Snn::candidates(bool in_pairs, std::uint32_t neurons_per_tile,
                                  MachineCosts& costs) const {
  std::vector<Plan> plans;
  std::string others;
  const auto consider = [&](const Choice& choice) {
    Plan plan = make_plan(network_, options_, data_.max_events(), choice, costs);
    const PlanKeys keys = keys_of(plan);
    const auto same = [&](const Plan& other) { return keys_of(other).allow(keys); };
    if (options_.plan.allow(keys) && std::none_of(plans.begin(), plans.end(), same))
      plans.push_back(std::move(plan));
    else
      others += fmt::format("{}{}", others.empty() ? "" : " or ", to_json(keys).dump());
  };
  for (const bool pairs : {true, false}) {
    if (pairs != in_pairs && !options_.plan.of_lists()) continue;
    for (const Spread spread : {Spread::one, Spread::by_marks, Spread::by_neurons})
      consider({Algorithm::bits, spread, pairs, neurons_per_tile});
    consider({Algorithm::published, Spread::by_neurons, pairs, neurons_per_tile});
  }
  if (plans.empty())
    throw KeyError("workload.plan", "found {}, allowed {}", to_json(options_.plan).dump(), others);
  return plans;
}

plan::Described Snn::describe(const Plan& plan) const {
  plan::Described made =
      dense_ ? describe_program(subject(), *dense_, *code_) : describe_program(subject(), plan);
  add_tensors(made.description);
  return made;
}

/// Returns the plan with the fewest predicted cycles of those that fit.
plan::Found Snn::cheapest(const std::vector<Plan>& plans, plan::Pricing& pricing) const {
  plan::Space space;
  space.bounds.assign(plans.size(), 0);
  space.describe = [&](std::size_t option, std::uint32_t /*variant*/) {
    return describe(plans[option]);
  };
  space.schedules = false;
  return plan::search(space, pricing);
}

/// Prefers plans whose layers begin at even tiles, then others. If compilation shows that none
/// fits, returns the plan that needs the least memory.
Snn::Chosen Snn::choose(std::uint32_t neurons_per_tile, plan::Pricing& pricing) const {
  MachineCosts& costs = pricing.costs();
  std::vector<Plan> plans = dense_ ? std::vector{plan_} : candidates(true, neurons_per_tile, costs);
  plan::Found found = cheapest(plans, pricing);
  if (!found.fits) {
    std::vector<Plan> others = candidates(false, neurons_per_tile, costs);
    const plan::Found other = cheapest(others, pricing);
    if (other.fits) {
      found = other;
      plans = std::move(others);
    }
  }
  return {plans[found.option], found};
}

/// If exchange and sync take a large share of the cycles, more neurons per tile are tried too: then
/// fewer tiles receive the same spikes.
plan::Found Snn::choose_plan(MachineCosts& costs) {
  constexpr std::uint64_t kLeastShare =
      4;  // exchange and sync take at least one in this many cycles
  constexpr std::uint32_t kMostInVain = 2;
  plan::Pricing pricing(costs);
  Chosen best = choose(given_neurons(), pricing);
  const auto waits = [&] {
    const Prediction& its = best.found.prediction;
    return kLeastShare * (its.exchange_cycles + its.sync_cycles) >= its.cycles;
  };
  const bool pinned = dense_ || given_neurons() > 0 || !options_.plan.reductions.empty() ||
                      options_.plan.algorithm == Algorithm::published;
  if (!pinned && best.found.fits && waits()) {
    std::uint32_t most = 0;
    for (const Layer& layer : network_.layers) most = std::max(most, layer.neurons);
    std::uint32_t neurons = best.plan.layers.front().neurons_per_tile;
    std::uint32_t in_vain = 0;
    while (in_vain < kMostInVain && neurons < most) {
      neurons += std::max(neurons / 8 * 2, 2U);
      Chosen other = choose(neurons, pricing);
      const bool better =
          other.found.fits && other.found.prediction.cycles < best.found.prediction.cycles;
      in_vain = better ? 0 : in_vain + 1;
      if (better) best = std::move(other);
    }
  }
  plan_ = std::move(best.plan);
  return best.found;
}

/// Returns the options; throws KeyError if their weights exceed the SRAM of all tiles.
const Options& Snn::fitting() const {
  const std::uint64_t bytes = weight_bytes(options_, data_.inputs());
  const std::uint64_t room = std::uint64_t{machine_.tiles} * machine_.tile.sram_kib * 1024;
  if (bytes > room)
    throw KeyError("workload.layers", "found {} bytes of weights, allowed {}, the SRAM of {} tiles",
                   bytes, room, machine_.tiles);
  return options_;
}

/// Throws KeyError if a tile has no room for what grows with steps and samples: lists of all steps
/// or samples, states of all steps. Runs before a program is made.
void Snn::require_room() const {
  const std::uint64_t room = sram_bytes(machine_.tile);
  const std::uint64_t slots = std::uint64_t{options_.time_steps} + 1;
  const auto require = [&](std::uint64_t bytes, const char* key, std::uint32_t found,
                           const char* what) {
    if (bytes > room)
      throw KeyError(key, "found {}, for which {} need {} bytes of a tile, allowed {}", found, what,
                     bytes, room);
  };
  for (const ListPlan& list : plan_.lists) {
    const std::uint64_t bytes = list_words(list.capacity) * 4ULL;
    require(slots * bytes, "workload.time_steps", options_.time_steps,
            "a sample's lists of all steps");
    require(options_.batch * bytes, "workload.batch", options_.batch, "the lists of all samples");
  }
  const std::uint64_t stretch = plan_.checkpoint_steps;
  const std::uint64_t kept =
      stretch > 0 ? stretch + ceil_div<std::uint64_t>(slots, stretch) : slots;
  for (const LayerTiles& layer : plan_.layers)
    require((options_.train ? kept : 2) * options_.batch * layer.neurons_per_tile * 4ULL,
            "workload.time_steps", options_.time_steps,
            stretch > 0 ? "states from checkpoint to checkpoint" : "states of all steps");
}

Setting Snn::setting() const {
  return {options_.seed, machine_.tile.contexts, options_.time_steps,
          static_cast<float>(options_.steepness), options_.learning};
}

/// Runs the plain network on the first samples, inputs and weights being known before the run, up
/// to kMostAdditions and kMostSamples. Small batches: several batches are run.
void Snn::expect() {
  constexpr std::uint64_t kMostAdditions = 100'000'000;
  constexpr std::uint64_t kMostSamples = 16;
  constexpr std::uint64_t kStated = 8;
  std::uint64_t a_step = 1;
  for (std::uint32_t l = 0; l < network_.layers.size(); ++l)
    for (const VectorId v : Plan::sources(network_, l))
      a_step += std::uint64_t{plan_.lists[v].capacity} * network_.layers[l].neurons;
  Setting looked = setting();
  const std::uint64_t most =
      std::clamp<std::uint64_t>(kMostAdditions / (a_step * looked.time_steps), 1, kMostSamples);
  const std::uint64_t samples = std::min<std::uint64_t>(most, options_.batch);
  const std::uint64_t batches =
      options_.fed() ? std::clamp<std::uint64_t>(turns_.steps, 1, most / samples) : 1;
  looked.time_steps = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(kMostAdditions / (a_step * samples), 1, looked.time_steps));
  HostThreads one(1);
  PlainNetwork network(network_, plan_, looked, one);
  const std::uint64_t steps = batches * looked.time_steps;
  const std::uint64_t moments = std::min(kStated, steps);
  for (std::uint64_t number = 0; number < batches; ++number) {
    network.look(data_, turns_.training, number, samples);
    const auto lists = std::make_shared<Lists>(network.lists());
    // Inputs have the empty slot after the last step only if all time steps were run.
    if (looked.time_steps < options_.time_steps)
      for (std::vector<List>& slots : lists->front()) slots.pop_back();
    for (std::uint64_t i = number; i < moments; i += batches) {
      const std::uint64_t step = (2 * i + 1) * steps / (2 * moments) / batches;
      stated_.push_back(stated_of(network, samples, static_cast<std::uint32_t>(step)));
      stated_.back().lists = lists;
    }
  }
}

ActivityProfile Snn::stated_of(const PlainNetwork& network, std::uint64_t samples,
                               std::uint32_t step) const {
  ActivityProfile stated;
  stated.step = step;
  for (VectorId v = 0; v < plan_.lists.size(); ++v) {
    stated.marks.emplace_back();
    for (std::size_t b = 0; b < samples; ++b)
      if (v > 0 && plan_.lists[v].capacity > 0)
        stated.marks[v].push_back(network.marks(v - 1, b, step));
  }
  return stated;
}

program::Program Snn::lowered() const { return plan::lower(describe(plan_).description); }

nlohmann::ordered_json Snn::facts_of(nlohmann::ordered_json memory) const {
  nlohmann::ordered_json facts{{"neurons", network_.neurons()},
                               {"parameters", network_.parameters()},
                               {"training_steps", options_.train ? turns_.steps : 0},
                               {"test_steps", turns_.test_steps},
                               {"memory", std::move(memory)}};
  if (options_.network.empty()) return facts;
  facts["equations"] = stepping(network_, options_.step_seconds);
  if (options_.train) facts["trained"] = "weights, no biases or parameters of neurons";
  return facts;
}

/// Counts with every list full: per id and neuron one addition forward; training adds one for the
/// weight's gradient and a multiply-add for the spike's.
std::uint64_t Snn::flops() const {
  std::uint64_t a_step = 0;
  for (std::uint32_t l = 0; l < network_.layers.size(); ++l)
    for (const VectorId v : Plan::sources(network_, l)) {
      const std::uint64_t spikes = dense_ ? plan_.lists[v].neurons : plan_.lists[v].capacity;
      const std::uint64_t events = spikes * network_.layers[l].neurons;
      a_step += events * (options_.train ? (v > 0 ? 4 : 2) : 1);
    }
  return a_step * options_.batch * options_.time_steps * turns_.steps;
}

}  // namespace tessera::snn
