#include "kernels/snn/program.h"

#include <cstring>

#include "kernels/training/matrix.h"
#include "sim/data/random.h"

namespace tessera::snn {

void fill_unlisted(std::span<std::byte> into) { std::memset(into.data(), 0xff, into.size()); }

std::uint32_t chance_of(std::uint64_t seed, VectorId vector, std::uint32_t sample,
                        std::uint32_t part) {
  constexpr std::uint64_t kStream = 311;
  const std::uint64_t which = (std::uint64_t{vector} << 40) + (std::uint64_t{sample} << 16) + part;
  return static_cast<std::uint32_t>(data::random_bits(seed, kStream, which));
}

ProgramBuilder::ProgramBuilder(program::Program& program, const Snn& snn, const Stated* stated)
    : Builder(program, snn.machine_, "snn"),
      snn_(snn),
      options_(snn.options_),
      network_(snn.network_),
      plan_(snn.plan_),
      stated_(stated) {
  for (const Layer& layer : network_.layers)
    kind_names_.emplace_back(config::name_of(kNeuronKinds, layer.kind));
  group_sums_.resize(plan_.reductions.size());
}

program::Program ProgramBuilder::build(const Snn& snn, const Stated* stated) {
  program::Program program(snn.machine_.tiles);
  ProgramBuilder(program, snn, stated).add_all();
  return program;
}

program::Vertex ProgramBuilder::tick(std::uint32_t tile, std::uint32_t keep, std::uint32_t change) {
  return one(tile, "snn_tick", {Place{clocks_.at(tile)}, keep, change});
}

program::Vertex ProgramBuilder::fetch(const Home& home, BufferId to, VectorId vector,
                                      std::uint32_t ahead) {
  return all(home.tile, "snn_fetch",
             {Place{home.stored}, stride(vector), ahead, Place{clocks_.at(home.tile)}, Place{to}});
}

program::Vertex ProgramBuilder::clear(std::uint32_t tile, Place place, std::uint64_t bytes) {
  return all(tile, "snn_clear", {place, word(bytes / 8), ceil_div(word(bytes / 8), contexts())});
}

void ProgramBuilder::add_ticks(ComputeSet& set, std::uint32_t keep, std::uint32_t change) {
  for (const auto& [tile, clock] : clocks_) set.vertices.push_back(tick(tile, keep, change));
}

std::uint32_t ProgramBuilder::state_slots(std::uint32_t layer) const {
  if (!options_.train || network_.layers[layer].kind == NeuronKind::integrator) return 2;
  return (recomputes(layer) ? plan_.checkpoint_steps : options_.time_steps) + 1;
}

void ProgramBuilder::add_all() {
  add_clocks();
  add_homes();
  add_neurons();
  const training::Turns& turns = snn_.turns_;
  add_turns({turns.steps, options_.train, false, turns.training});
  add_to(program().main(), false);
  if (turns.test_steps > 0) add_turns({turns.test_steps, false, true, turns.testing});
  add_tensors();
}

/// A count of steps on each tile that has something to do. A prediction begins at its own step, as
/// chance follows the clock; where states are computed again, at the last, from which that goes
/// back.
void ProgramBuilder::add_clocks() {
  const std::uint32_t now = stated_ == nullptr            ? 0
                            : plan_.checkpoint_steps == 0 ? stated_->step
                                                          : options_.time_steps - 1;
  const auto first = [now](std::span<std::byte> into) {
    training::fill_zeros(into);
    std::memcpy(into.data(), &now, sizeof now);
  };
  const auto need = [&](std::uint32_t tile) {
    const auto [entry, is_new] = clocks_.try_emplace(tile);
    if (is_new) entry->second = buffer(tile, 4, "clock", first);
  };
  for (const LayerTiles& layer : plan_.layers)
    for (std::uint32_t k = 0; k < layer.tiles; ++k) need(layer.first + k);
  for (VectorId v = 0; v < plan_.lists.size(); ++v)
    for (std::uint32_t b = 0; b < plan_.batch; ++b)
      for (std::uint32_t s = 0; s < plan_.lists[v].spread; ++s) need(plan_.home(v, b, s));
}

void ProgramBuilder::add_homes() {
  homes_.resize(plan_.lists.size());
  for (VectorId v = 0; v < plan_.lists.size(); ++v)
    for (std::uint32_t b = 0; b < plan_.batch; ++b) add_home(v, b);
}

void ProgramBuilder::add_home(VectorId vector, std::uint32_t sample) {
  Home home;
  home.tile = plan_.home(vector, sample);
  const std::uint64_t slots = std::uint64_t{options_.time_steps} + 1;
  if (listed(vector)) {
    home.list = buffer(home.tile, stride(vector), "spikes", stated_list(vector, sample, 1));
    Fill contents = stated_list(vector, sample, word(slots));
    if (vector == 0 && !options_.fed()) {
      contents = [data = &snn_.data_, sample, steps = options_.time_steps](
                     std::span<std::byte> into) { fill_events(*data, sample, steps, into); };
    }
    home.stored = buffer(home.tile, slots * stride(vector), "spikes of all steps", contents, true);
    home.totals = zeros(home.tile, kTotals * 4ULL, "totals", true);
    if (vector > 0) add_parts(home, vector, sample);
    if (vector > 0 && options_.train) {
      home.own = buffer(home.tile, stride(vector), "own spikes", stated_list(vector, sample, 1));
      if (leads_on(vector))
        home.gradients = buffer(home.tile, gradient_bytes(vector), "spike gradients");
      home.by_neuron = buffer(home.tile, plan_.lists[vector].neurons * 4ULL, "gradients by neuron",
                              fill_unlisted, true);
    }
  }
  if (vector + 1 == plan_.lists.size()) {
    add_outputs(home);
    if (!options_.fed()) {
      const std::uint32_t label = snn_.data_.label(sample);
      home.label = buffer(home.tile, 8, "label", [label](std::span<std::byte> into) {
        std::memset(into.data(), 0, into.size());
        std::memcpy(into.data(), &label, sizeof label);
      });
    } else {
      home.label = buffer(home.tile, 8, "label");
    }
  }
  homes_[vector].push_back(std::move(home));
}

void ProgramBuilder::add_outputs(Home& home) {
  const std::uint64_t bytes = std::uint64_t{round_up(network_.outputs(), 2U)} * 4;
  home.logits = buffer(home.tile, bytes, "logits");
  home.logit_gradients = buffer(home.tile, bytes, "logit gradients");
  home.result = buffer(home.tile, 8, "loss of sample");
}

void ProgramBuilder::add_parts(Home& home, VectorId vector, std::uint32_t sample) {
  const ListPlan& list = plan_.lists[vector];
  for (std::uint32_t s = 0; s < list.spread; ++s) {
    const kernels::Interval mine = list.part(s);
    Part part;
    part.tile = plan_.home(vector, sample, s);
    part.count = word(mine.size());
    part.chunk = ceil_div(part.count, contexts());
    const std::uint32_t each = plan_.neurons_a_mark();
    part.worker_capacity = std::min(list.capacity, part.chunk * each);
    part.capacity = std::min(list.capacity, ceil_div(list.marks, list.spread) * each);
    part.marks = buffer(part.tile, std::uint64_t{part.count} * 4, "marks of neurons",
                        stated_marks(vector, sample, mine));
    part.found = buffer(part.tile, std::uint64_t{contexts()} * found_bytes(part.worker_capacity),
                        "found by workers");
    if (list.spread > 1) part.joined = buffer(part.tile, found_bytes(part.capacity), "found");
    const std::array<std::uint32_t, 4> key{
        word(mine.begin), chance_of(options_.seed, vector, sample, s),
        ceil_div(1U << 31, list.marks_a_tile),
        list.marks_a_tile * each - plan_.layers[vector - 1].neurons_per_tile};
    part.key = buffer(part.tile, sizeof key, "key", [key](std::span<std::byte> into) {
      std::memcpy(into.data(), key.data(), sizeof key);
    });
    home.parts.push_back(part);
  }
  if (list.spread > 1)
    home.joined =
        buffer(home.tile, std::uint64_t{list.spread} * found_bytes(home.parts.front().capacity),
               "found by tiles", stated_found(vector, sample, home.parts.front().capacity));
}

void ProgramBuilder::add_neurons() {
  neurons_.resize(network_.layers.size());
  for (std::uint32_t l = 0; l < network_.layers.size(); ++l)
    for (std::uint32_t k = 0; k < plan_.layers[l].tiles; ++k) add_tile(l, k);
}

void ProgramBuilder::add_tile(std::uint32_t layer, std::uint32_t number) {
  const Layer& what = network_.layers[layer];
  const LayerTiles& lies = plan_.layers[layer];
  Neurons tile;
  tile.tile = lies.first + number;
  tile.begin = number * lies.neurons_per_tile;
  tile.end = std::min(tile.begin + lies.neurons_per_tile, what.neurons);
  tile.pairs = ceil_div(tile.count(), 2U);
  const auto weights = [&what, tile, wide = plan_.wide](std::span<std::byte> into) {
    std::byte* to = into.data();
    std::uint32_t first = tile.begin;
    for (const std::uint32_t width : block_widths(tile.pairs, wide)) {
      const std::uint32_t here = std::min(2 * width, tile.end - first);
      for (std::uint32_t row = 0; row < what.rows(); ++row, to += std::size_t{width} * 8) {
        std::memcpy(to, what.weights_from(row, first), here * sizeof(float));
        std::memset(to + here * sizeof(float), 0, (2 * width - here) * sizeof(float));
      }
      first += 2 * width;
    }
  };
  tile.weights =
      buffer(tile.tile, std::uint64_t{tile.pairs} * plane_bytes(layer), "weights", weights, true);
  tile.parameters = buffer(tile.tile, std::uint64_t{tile.pairs} * kPairBytes, "parameters",
                           [&what, tile](std::span<std::byte> into) {
                             fill_parameters(what, {tile.begin, tile.end}, into);
                           });
  tile.states =
      buffer(tile.tile, std::uint64_t{state_slots(layer)} * slot_bytes(tile, layer), "states");
  tile.marks = buffer(tile.tile, std::uint64_t{plan_.batch} * marks_of(tile) * 4, "marks");
  if (plan_.bits()) add_step_buffers(tile, layer);
  tile.sums = buffer(tile.tile, std::uint64_t{plan_.batch} * tile.pairs * 8, "sums of states");
  for (const VectorId v : Plan::sources(network_, layer))
    tile.lists.push_back(buffer(tile.tile, std::uint64_t{plan_.batch} * stride(v),
                                "spikes received", stated_lists(v)));
  if (options_.train) add_training(tile, layer);
  neurons_[layer].push_back(std::move(tile));
}

}  // namespace tessera::snn
