#include "kernels/snn/plan.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/snn/program.h"
#include "sim/base/errors.h"
#include "sim/config/writers.h"

namespace tessera::snn {

namespace {

// As published: neurons that a worker scans, and the number of excess workers from which another
// tile is used.
constexpr std::uint32_t kNeuronsPerWorker = 64;
constexpr std::uint32_t kWorkersWorthATile = 2;

std::uint32_t spread_of(std::uint32_t neurons, std::uint32_t contexts) {
  const std::uint32_t workers =
      neurons / kNeuronsPerWorker + (neurons % kNeuronsPerWorker > kNeuronsPerWorker / 2 ? 1U : 0U);
  return std::max(workers / contexts + (workers % contexts >= kWorkersWorthATile ? 1U : 0U), 1U);
}

/// Capacity of a layer's list, in ids. As published: even, at least two; all neurons at an activity
/// of 1.
std::uint32_t capacity_of(double activity, std::uint32_t neurons) {
  const auto ids = static_cast<std::uint32_t>(std::floor(activity * neurons));
  return ids < neurons ? std::min(std::max(ids / 2 * 2, 2U), neurons) : neurons;
}

std::uint32_t tiles_needed(const Network& network, std::uint32_t per_tile) {
  std::uint32_t tiles = 0;
  for (const Layer& layer : network.layers) tiles += ceil_div(layer.neurons, per_tile);
  return tiles;
}

std::uint32_t neurons_per_tile(const Network& network, std::uint32_t given,
                               const MachineConfig& machine) {
  if (network.layers.size() > machine.tiles)
    throw KeyError("workload.layers", "found {} layers, allowed {}, one per tile",
                   network.layers.size(), machine.tiles);
  std::uint32_t fewest = 2;
  while (tiles_needed(network, fewest) > machine.tiles) fewest += 2;
  if (given == 0) return fewest;
  if (given < fewest && tiles_needed(network, given) > machine.tiles)
    throw KeyError("workload.neurons_per_tile",
                   "found {}, for which {} neurons need {} tiles of {}, allowed {} or more", given,
                   network.neurons(), tiles_needed(network, given), machine.tiles, fewest);
  return given;
}

/// Assigns tiles to the sums of groups, about in proportion to their additions, as published.
void place_reductions(const Network& network, Plan& plan) {
  std::vector<double> work;
  double all = 0;
  for (std::uint32_t l = 0; l < network.layers.size(); ++l) {
    const std::uint32_t tiles = plan.layers[l].tiles;
    for (const VectorId v : Plan::sources(network, l)) {
      if (v == 0) continue;
      const std::uint32_t size = std::min(std::max(plan.batch / 2, 1U), tiles);
      plan.reductions.push_back({{l, tiles / size, size, 1}, v});
      work.push_back(std::pow(double(tiles), 0.8) * plan.lists[v].capacity * plan.batch);
      all += work.back();
    }
  }
  std::uint32_t first = plan.first;
  const std::uint32_t end = plan.first + plan.tiles;
  for (std::size_t i = 0; i < work.size(); ++i) {
    Reduction& reduction = plan.reductions[i];
    reduction.first = std::min(first, end - 1);
    reduction.tiles = std::clamp(static_cast<std::uint32_t>(work[i] / all * plan.tiles), 1U,
                                 end - reduction.first);
    first += reduction.tiles;
  }
}

/// Bytes of a tile that are not available to products: weights with their training state, states of
/// all steps.
std::uint64_t kept_bytes(const Options& options, const Network& network,
                         const MachineConfig& machine, std::uint32_t padding) {
  const auto bytes = [&](std::uint32_t rows, std::uint32_t columns) {
    return training::matrix_bytes(rows, columns, machine, padding);
  };
  const std::uint64_t slots = options.time_steps + 1;
  constexpr std::uint64_t kCopies = 6;  // of weights: transposed, gradients, their sum, two moments
  constexpr std::uint64_t kMatrices = 6;  // of shape [batch, neurons]
  std::uint64_t kept = slots * bytes(options.batch, network.inputs());
  for (const Layer& layer : network.layers) {
    kept += (options.train ? kCopies : 1) * bytes(layer.inputs, layer.neurons);
    kept += (kMatrices + (options.train ? slots : 2)) * bytes(options.batch, layer.neurons);
  }
  constexpr std::uint64_t kCodeAndLists = 32768;
  return kept + kCodeAndLists;
}

struct PaddedPlans {
  std::vector<training::DensePlan> plans;
  std::uint64_t cycles = 0;  ///< predicted for all products of a step
  std::string misfit = {};
};

PaddedPlans plan_padded(const Options& options, const Network& network, std::uint32_t padding,
                        MachineCosts& costs) {
  training::ProductPlanner planner(costs, kept_bytes(options, network, costs.machine(), padding),
                                   padding);
  const std::vector<training::DenseKeys>& pinned = options.plan.products;
  PaddedPlans made;
  for (const Layer& layer : network.layers) {
    const std::size_t i = made.plans.size();
    training::PlannedLayer planned = planner.plan(
        {options.batch, layer.inputs, layer.neurons, fmt::format("workload.layers[{}]", i),
         options.train, i == 0, i < pinned.size() ? pinned[i] : training::DenseKeys()});
    if (!planned.plan) return {{}, 0, planned.misfit};
    made.plans.push_back(std::move(*planned.plan));
    const training::DensePlan& plan = made.plans.back();
    for (const auto& product :
         {std::optional(plan.forward), plan.weight_gradient, plan.input_gradient})
      if (product) made.cycles += product->candidate.prediction.cycles;
  }
  return made;
}

}  // namespace

std::vector<VectorId> Plan::sources(const Network& network, std::uint32_t layer) {
  std::vector<VectorId> sources{layer};
  if (network.layers[layer].recurrent()) sources.push_back(layer + 1);
  return sources;
}

std::uint32_t Plan::home(VectorId vector, std::uint32_t sample, std::uint32_t part) const {
  const ListPlan& list = lists[vector];
  const std::uint64_t number = list.first_home + std::uint64_t{sample} * list.spread + part;
  return first + static_cast<std::uint32_t>(number * tiles / homes);
}

std::vector<std::uint32_t> block_widths(std::uint32_t pairs, bool wide) {
  std::vector<std::uint32_t> widths;
  while (pairs > 0) {
    const std::uint32_t width = !wide || pairs < 4 ? 1 : pairs < 6 ? 4 : pairs < 8 ? 6 : 8;
    widths.push_back(width);
    pairs -= width;
  }
  return widths;
}

Interval Plan::marked(VectorId vector, std::uint64_t mark) const {
  if (!bits()) return {mark, mark + 1};
  const std::uint64_t each = layers[vector - 1].neurons_per_tile;
  const std::uint64_t tile = mark / lists[vector].marks_a_tile;
  const std::uint64_t begin = tile * each + mark % lists[vector].marks_a_tile * kNeuronsAWord;
  const std::uint64_t end = std::min<std::uint64_t>((tile + 1) * each, lists[vector].neurons);
  return {begin, std::min<std::uint64_t>(begin + kNeuronsAWord, end)};
}

/// Steps between stored states; 0: all are stored. Default: about the square root of time_steps,
/// preferably a divisor of it.
std::uint32_t checkpoint_steps(const Options& options) {
  if (!options.train || options.states == States::stored) return 0;
  if (options.checkpoint_steps > 0) return std::min(options.checkpoint_steps, options.time_steps);
  const auto root = static_cast<std::uint32_t>(std::ceil(std::sqrt(options.time_steps)));
  for (std::uint32_t off = 0; off <= root / 2; ++off)
    for (const std::uint32_t steps : {root + off, root - off})
      if (options.time_steps % steps == 0) return steps;
  return root;
}

/// Places the layers on tiles. Where the two tiles of a pair receive lists at twice the rate, a
/// pair shared by two layers receives the lists of both. So layers with an odd number of tiles,
/// those that receive most first, get the pair's other tile while tiles are idle; of the rest, the
/// one that receives most shares a pair with the one that receives least.
void place_layers(const Network& network, std::uint32_t per_tile, std::uint32_t idle, Plan& plan) {
  std::vector<std::uint32_t> odd, order;
  const auto taken = [&](std::uint32_t l) {
    std::uint64_t ids = 0;
    for (const VectorId v : Plan::sources(network, l)) ids += plan.lists[v].capacity;
    return ids;
  };
  for (std::uint32_t l = 0; l < network.layers.size(); ++l) {
    plan.layers.push_back({0, ceil_div(network.layers[l].neurons, per_tile), per_tile});
    (plan.neighbours_listen && plan.layers[l].tiles % 2 != 0 ? odd : order).push_back(l);
  }
  std::stable_sort(odd.begin(), odd.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return taken(a) > taken(b); });
  const auto alone = odd.begin() + std::min<std::ptrdiff_t>(idle, std::ssize(odd));
  if (plan.neighbours_listen && odd.empty() && idle > 0) plan.first = idle > 1 ? 2 : 0;
  std::uint32_t tile = plan.first;
  const auto place = [&](std::uint32_t l) {
    plan.layers[l].first = tile;
    tile += plan.layers[l].tiles;
  };
  for (auto l = odd.begin(); l != alone; ++l) {
    place(*l);
    if (l + 1 != alone) ++tile;
  }
  for (const std::uint32_t l : order) place(l);
  std::uint32_t most = 0;
  const auto others = static_cast<std::uint32_t>(odd.end() - alone);
  for (std::uint32_t least = others; most < least;) {
    place(alone[most++]);
    if (most < least) place(alone[--least]);
  }
}

Plan make_plan(const Network& network, const Options& options, std::uint32_t max_inputs,
               const Choice& choice, const MachineCosts& costs) {
  const MachineConfig& machine = costs.machine();
  Plan plan;
  constexpr std::uint64_t kSomeBytes = 1U << 16;
  plan.neighbours_listen = choice.in_pairs && costs.exchange({.shared = kSomeBytes}) <
                                                  costs.exchange({.received = kSomeBytes});
  plan.batch = options.batch;
  const std::uint32_t per_tile = neurons_per_tile(network, choice.neurons_per_tile, machine);
  const std::uint32_t needed = tiles_needed(network, per_tile);
  const std::uint32_t idle = machine.tiles - needed;
  plan.first = idle > 0 ? 1 : 0;
  plan.algorithm = choice.algorithm;
  plan.wide = plan.bits() && !options.train;
  plan.checkpoint_steps = checkpoint_steps(options);
  const auto add_list = [&](std::uint32_t neurons, std::uint32_t capacity, bool looked_for) {
    ListPlan list{neurons, neurons, per_tile, capacity, 1, plan.homes};
    if (plan.bits()) {
      const std::uint32_t full = neurons / per_tile;
      list.marks_a_tile = ceil_div(per_tile, kNeuronsAWord);
      list.marks = full * list.marks_a_tile + ceil_div(neurons % per_tile, kNeuronsAWord);
    }
    if (looked_for)
      list.spread = !plan.bits() || choice.spread == Spread::by_neurons
                        ? spread_of(neurons, machine.tile.contexts)
                    : choice.spread == Spread::by_marks
                        ? spread_of(list.marks, machine.tile.contexts)
                        : 1;
    list.spread = std::min(list.spread, list.marks);
    plan.lists.push_back(list);
    plan.homes += options.batch * list.spread;
  };
  add_list(network.inputs(), max_inputs, false);
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    const Layer& layer = network.layers[l];
    const bool hidden = l + 1 < network.layers.size();
    const bool listed = hidden || options.loss == Loss::spike_count;
    // All outputs carry gradient, and each of their spikes counts.
    const std::uint32_t capacity =
        hidden ? capacity_of(options.max_activity, layer.neurons) : layer.neurons;
    add_list(layer.neurons, listed ? capacity : 0, listed);
  }
  place_layers(network, per_tile, idle, plan);
  if (plan.bits()) plan.first = 0;  // all tiles make lists
  plan.tiles = machine.tiles - plan.first;
  place_reductions(network, plan);
  return plan;
}

PlanKeys keys_of(const Plan& plan) {
  PlanKeys keys{plan.algorithm, plan.lists.front().capacity};
  for (std::size_t l = 0; l < plan.layers.size(); ++l)
    keys.layers.push_back({plan.layers[l], plan.lists[l + 1].capacity, plan.lists[l + 1].spread});
  keys.reductions.assign(plan.reductions.begin(), plan.reductions.end());
  keys.checkpoint_steps = plan.checkpoint_steps;
  return keys;
}

nlohmann::ordered_json to_json(const PlanKeys& keys) {
  nlohmann::ordered_json json = config::resolved(keys);
  const nlohmann::ordered_json none = config::resolved(PlanKeys());
  for (const auto& [key, value] : none.items())
    if (json[key] == value) json.erase(key);
  return json;
}

bool PlanKeys::of_lists() const {
  return algorithm != Algorithm::best || max_inputs > 0 || !layers.empty() || !reductions.empty() ||
         checkpoint_steps > 0;
}

bool PlanKeys::allow(const PlanKeys& plan) const {
  return (algorithm == Algorithm::best || algorithm == plan.algorithm) &&
         (max_inputs == 0 || max_inputs == plan.max_inputs) &&
         (layers.empty() || layers == plan.layers) &&
         (reductions.empty() || reductions == plan.reductions) &&
         (checkpoint_steps == 0 || checkpoint_steps == plan.checkpoint_steps);
}

void describe(config::Fields& fields, LayerKeys& keys) {
  fields.field({"first_tile", "first tile of the layer's neurons"}, keys.first);
  fields.field({"tiles", "number of the layer's tiles"}, keys.tiles);
  fields.field({"neurons_per_tile", "neurons per tile"}, keys.neurons_per_tile);
  fields.field({"max_spikes", "capacity of a list of spikes, in ids"}, keys.max_spikes);
  fields.field({"selecting_tiles_a_sample", "tiles that search for the spikes of one sample"},
               keys.selecting_tiles);
}

void describe(config::Fields& fields, ReductionKeys& keys) {
  fields.field({"layer", "layer whose spike gradients are reduced"}, keys.layer);
  fields.field({"groups", "number of groups of its tiles"}, keys.groups);
  fields.field({"tiles_a_group", "tiles per group; the last group takes the rest"},
               keys.group_size);
  fields.field({"summing_tiles", "number of tiles that share the groups' sums"}, keys.tiles);
}

void describe(config::Fields& fields, PlanKeys& keys) {
  fields.field({"algorithm",
                "published: one mark per neuron, searched by all workers, as in the published "
                "program; bits: marks are bits, and without training the weights of a spike are "
                "contiguous; best: the one with the lower prediction"},
               keys.algorithm, kAlgorithms);
  fields.field({"max_inputs", "capacity of a list of events, in ids; 0: any"}, keys.max_inputs);
  fields.list({"layers", "pins the placement of layers; not given: any"}, keys.layers);
  fields.list({"reductions", "pins the reduction of spike gradients; not given: any"},
              keys.reductions);
  fields.field({"checkpoint_steps", "time steps between stored states; 0: any"},
               keys.checkpoint_steps);
  training::describe_padding(fields, keys.padding);
  fields.list({"products", "activations dense: products by layer; not given: searched"},
              keys.products);
}

void require_dense(const Options& options) {
  const auto refuse = [](bool wrong, const char* key, const auto& found, const char* allowed) {
    if (wrong) throw KeyError(key, "found {} with activations dense, allowed {}", found, allowed);
  };
  refuse(!options.network.empty(), "workload.network", options.network, "none");
  refuse(options.neuron.kind != NeuronKind::lif, "workload.neuron.kind",
         config::name_of(kNeuronKinds, options.neuron.kind), "lif");
  refuse(options.neuron.recurrent, "workload.neuron.recurrent", "true", "false");
  refuse(options.data.test_samples > 0, "workload.data.test_samples", options.data.test_samples,
         "0");
  // Padding neurons have state 0 and must not spike.
  refuse(options.neuron.threshold < 0, "workload.neuron.threshold", options.neuron.threshold,
         "0 or more");
}

std::vector<training::DensePlan> plan_dense(const Options& options, const Network& network,
                                            MachineCosts& costs) {
  std::vector<training::DensePlan> best;
  std::uint64_t least = UINT64_MAX;
  std::string misfit;
  for (const std::uint32_t padding :
       training::paddings(costs.machine(), options.plan.padding, !options.plan.products.empty())) {
    const PaddedPlans planned = plan_padded(options, network, padding, costs);
    if (planned.misfit.empty() && planned.cycles < least) {
      least = planned.cycles;
      best = planned.plans;
    }
    misfit = planned.misfit;
  }
  if (least == UINT64_MAX) throw UserError(misfit);
  return best;
}

}  // namespace tessera::snn
