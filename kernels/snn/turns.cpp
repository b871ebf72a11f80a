#include <cstring>

#include "kernels/snn/program.h"
#include "kernels/training/matrix.h"

namespace tessera::snn {

void fill_events(const Data& data, std::uint64_t sample, std::uint32_t steps,
                 std::span<std::byte> into) {
  const std::uint32_t words = list_words(data.max_events());
  std::memset(into.data(), 0, into.size());
  for (std::uint32_t t = 0; t < steps; ++t) {
    const std::vector<std::uint32_t> ids = data.events(sample, t);
    std::byte* const list = into.data() + std::size_t{t} * words * 4;
    const std::uint32_t count = word(ids.size());
    std::memcpy(list, &count, sizeof count);
    std::memcpy(list + 4, &count, sizeof count);
    std::ranges::copy(std::as_bytes(std::span(ids)), list + std::size_t{kListHeader} * 4);
  }
}

void ProgramBuilder::add_turns(const Turn& turn) {
  repeat(turn.times, [&] {
    if (turn.batches.fed) add_step(feed(turn));
    begin_turn(turn);
    repeat(options_.time_steps, [this] { add_forward(); });
    add_loss(turn);
    if (!turn.trains) return;
    turn_round();
    add_way_back();
    add_update();
  });
}

/// The next batch.
program::HostTransfer ProgramBuilder::feed(const Turn& turn) const {
  program::HostTransfer transfer{
      turn.tests ? "test events" : "events", program::HostTransfer::Direction::read, {}};
  const Data& data = snn_.data_;
  for (std::uint32_t b = 0; b < plan_.batch; ++b) {
    const auto sample = [of = turn.batches, b](std::uint64_t number) {
      return of.sample(number, b);
    };
    transfer.pieces.push_back({{homes_.front()[b].stored},
                               (options_.time_steps + 1) * stride(0),
                               [&data, sample, steps = options_.time_steps](
                                   std::span<std::byte> into, std::uint64_t number) {
                                 fill_events(data, sample(number), steps, into);
                               }});
    transfer.pieces.push_back({{homes_.back()[b].label},
                               4,
                               [&data, sample](std::span<std::byte> into, std::uint64_t number) {
                                 const std::uint32_t label = data.label(sample(number));
                                 std::memcpy(into.data(), &label, sizeof label);
                               }});
  }
  return transfer;
}

/// Clocks at 0, no state, no spikes, the first events at hand.
void ProgramBuilder::begin_turn(const Turn& turn) {
  ComputeSet set{"begin", {}};
  add_ticks(set, 0, 0);
  for (std::uint32_t l = 0; l < neurons_.size(); ++l) {
    for (const Neurons& tile : neurons_[l]) {
      set.vertices.push_back(clear(tile.tile, {tile.states}, slot_bytes(tile, l)));
      const std::uint64_t values = std::uint64_t{plan_.batch} * tile.pairs * 8;
      if (network_.layers[l].kind == NeuronKind::integrator)
        set.vertices.push_back(clear(tile.tile, {tile.sums}, values));
      if (!turn.trains) continue;
      set.vertices.push_back(clear(tile.tile, {tile.state_gradients}, slot_bytes(tile, l)));
      set.vertices.push_back(clear(tile.tile, {tile.gradients},
                                   std::uint64_t{tile.copies} * tile.pairs * plane_bytes(l)));
    }
  }
  for (const Home& home : homes_.front()) set.vertices.push_back(fetch(home, home.list, 0, 0));
  for (VectorId v = 1; v < homes_.size(); ++v) {
    for (const Home& home : homes_[v]) {
      if (listed(v)) {
        set.vertices.push_back(clear(home.tile, {home.list}, 8));
        set.vertices.push_back(clear(home.tile, {home.stored}, 8));
      }
      if (v + 1 < homes_.size()) continue;
      set.vertices.push_back(
          clear(home.tile, {home.logits}, std::uint64_t{round_up(network_.outputs(), 2U)} * 4));
    }
  }
  add_step(std::move(set));
}

void ProgramBuilder::add_training(Neurons& tile, std::uint32_t layer) {
  const Layer& what = network_.layers[layer];
  const std::uint64_t weights = std::uint64_t{tile.pairs} * plane_bytes(layer);
  const std::uint64_t values = std::uint64_t{plan_.batch} * tile.pairs * 8;
  tile.copies = gradient_copies(tile.count(), contexts(), plan_.batch);
  tile.gradients = buffer(tile.tile, tile.copies * weights, "weight gradients");
  tile.first_moments = zeros(tile.tile, weights, "first moments", true);
  if (options_.learning.adam())
    tile.second_moments = zeros(tile.tile, weights, "second moments", true);
  else
    tile.second_moments = tile.first_moments;
  tile.state_gradients = buffer(tile.tile, slot_bytes(tile, layer), "state gradients");
  tile.inputs = buffer(tile.tile, values, "input gradients");
  if (what.kind == NeuronKind::integrator) {
    tile.logits = zeros(tile.tile, values, "logit gradients");
  } else {
    tile.spike_gradients =
        buffer(tile.tile, values, "spike gradients",
               stated_ != nullptr ? stated_gradients(layer + 1, tile) : fill_unlisted);
  }
  if (recomputes(layer)) {
    const std::uint64_t checkpoints = ceil_div(options_.time_steps, plan_.checkpoint_steps);
    tile.checkpoints =
        buffer(tile.tile, checkpoints * slot_bytes(tile, layer), "checkpoints of states");
    places_.emplace(tile.tile, zeros(tile.tile, 4, "place of states"));
  }
  for (const VectorId v : Plan::sources(network_, layer))
    tile.input_gradients.push_back(v == 0 ? BufferId{}
                                          : buffer(tile.tile,
                                                   std::uint64_t{plan_.batch} * gradient_bytes(v),
                                                   "gradients of spikes received"));
}

}  // namespace tessera::snn
