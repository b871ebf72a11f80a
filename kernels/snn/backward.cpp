#include "kernels/snn/program.h"
#include "kernels/training/matrix.h"

namespace tessera::snn {

using training::bits_of;

/// Everything that the first step backwards needs: what the last step's lists were, no gradients
/// but those of the outputs.
void ProgramBuilder::turn_round() {
  ComputeSet set{"turn round", {}};
  add_ticks(set, 0, options_.time_steps - 1);
  fetch_back(set);
  const VectorId last = word(homes_.size() - 1);
  if (listed(last)) {
    for (const Home& home : homes_[last])
      if (leads_on(last))
        set.vertices.push_back(clear(home.tile, {home.gradients}, gradient_bytes(last)));
    place_gradients(set, last);
  }
  add_step(std::move(set));
}

/// The lists of the clock's step and of the one before it.
void ProgramBuilder::fetch_back(ComputeSet& set) {
  for (VectorId v = 0; v < homes_.size(); ++v) {
    if (!listed(v)) continue;
    for (const Home& home : homes_[v]) {
      set.vertices.push_back(fetch(home, home.list, v, 0));
      if (v > 0) set.vertices.push_back(fetch(home, home.own, v, 1));
    }
  }
}

/// Gradients of the spikes in a vector's own lists go where their neurons' are sent from; the
/// outputs' are added.
void ProgramBuilder::place_gradients(ComputeSet& set, VectorId vector) {
  for (const Home& home : homes_[vector]) {
    program::Argument sums = 0U;
    program::Argument logits = 0U;
    if (leads_on(vector)) sums = Place{home.gradients};
    if (vector + 1 == homes_.size()) logits = Place{home.logit_gradients};
    set.vertices.push_back(
        all(home.tile, "snn_place", {Place{home.own}, sums, logits, Place{home.by_neuron}}));
  }
}

void ProgramBuilder::add_backward() {
  Exchange exchange{"spikes back", {}};
  for (std::uint32_t l = 0; l < neurons_.size(); ++l) {
    receive(exchange, l);
    send_gradients(exchange, l);
  }
  add_step(std::move(exchange));
  add_step(gradients());
  add_group_sums();
  add_final_sums();
}

/// Every tile of the layer takes the gradients of its neurons' spikes, as published: dense.
void ProgramBuilder::send_gradients(Exchange& exchange, std::uint32_t layer) {
  const VectorId own = layer + 1;
  if (!listed(own)) return;
  for (std::uint32_t b = 0; b < plan_.batch; ++b)
    for (const Neurons& tile : neurons_[layer])
      exchange.copies.push_back({{homes_[own][b].by_neuron, tile.begin * 4},
                                 tile.count() * 4,
                                 {{tile.spike_gradients, 2 * b * tile.pairs * 4}}});
}

ComputeSet ProgramBuilder::gradients() {
  ComputeSet set{"gradients", {}};
  for (std::uint32_t l = 0; l < neurons_.size(); ++l) {
    for (const Neurons& tile : neurons_[l]) {
      add_state_gradient(set, tile, l);
      add_gradients_of_sources(set, tile, l);
    }
  }
  return set;
}

void ProgramBuilder::add_state_gradient(ComputeSet& set, const Neurons& tile, std::uint32_t layer) {
  const std::string name = "snn_state_gradient_" + kind_name(layer);
  if (network_.layers[layer].kind == NeuronKind::integrator) {
    set.vertices.push_back(all(tile.tile, name,
                               {plan_.batch, tile.pairs, Place{tile.parameters}, Place{tile.logits},
                                Place{tile.state_gradients}, Place{tile.inputs}}));
    return;
  }
  const BufferId clock = recomputes(layer) ? places_.at(tile.tile) : clocks_.at(tile.tile);
  set.vertices.push_back(
      all(tile.tile, name,
          {plan_.batch, tile.pairs, Place{tile.parameters}, Place{tile.states},
           slot_bytes(tile, layer), Place{clock}, Place{tile.state_gradients}, Place{tile.inputs},
           Place{tile.spike_gradients}, bits_of(options_.steepness)}));
}

void ProgramBuilder::add_gradients_of_sources(ComputeSet& set, const Neurons& tile,
                                              std::uint32_t layer) {
  const std::vector<VectorId> sources = Plan::sources(network_, layer);
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const VectorId v = sources[s];
    const std::uint32_t rows = s == 0 ? 0U : network_.layers[layer].inputs * 8;
    set.vertices.push_back(all(tile.tile, "snn_weight_gradient",
                               {plan_.batch, tile.pairs, tile.copies, Place{tile.gradients},
                                tile.pairs * plane_bytes(layer), plane_bytes(layer),
                                Place{tile.inputs}, Place{tile.lists[s]}, stride(v), rows}));
    if (v == 0) continue;
    set.vertices.push_back(all(tile.tile, "snn_input_gradient",
                               {plan_.batch, tile.pairs, Place{tile.weights}, plane_bytes(layer),
                                Place{tile.inputs}, Place{tile.input_gradients[s]},
                                gradient_bytes(v), Place{tile.lists[s]}, stride(v), rows}));
  }
}

/// Tile code that adds up parts of so many words. The published one deals them out by fours.
const char* ProgramBuilder::sum_of(std::uint32_t words) const {
  constexpr std::uint32_t kAtOnce = 4;
  return plan_.bits() && words < kAtOnce * contexts() ? "snn_sum_few" : "snn_sum";
}

/// Gradients of listed spikes, of the tiles of each group, are added up; samples lie on different
/// tiles.
void ProgramBuilder::add_group_sums() {
  Exchange exchange{"spike gradients", {}};
  ComputeSet set{"group sums", {}};
  for (std::size_t r = 0; r < plan_.reductions.size(); ++r) {
    const Reduction& reduction = plan_.reductions[r];
    if (reduction.groups == 1) continue;
    const std::vector<Neurons>& tiles = neurons_[reduction.layer];
    const std::size_t source = reduction.vector == reduction.layer ? 0 : 1;
    const std::uint32_t bytes = gradient_bytes(reduction.vector);
    group_sums_[r].assign(reduction.groups, {});
    for (std::uint32_t g = 0; g < reduction.groups; ++g) {
      const kernels::Interval members = reduction.members(g, word(tiles.size()));
      for (std::uint32_t b = 0; b < plan_.batch; ++b) {
        GroupSum sum{reduction.tile(g, b, plan_.batch), {}, {}};
        sum.parts = buffer(sum.tile, members.size() * bytes, "parts of a group");
        sum.sum = buffer(sum.tile, bytes, "sum of a group");
        for (std::uint64_t m = members.begin; m < members.end; ++m)
          exchange.copies.push_back({{tiles[m].input_gradients[source], b * bytes},
                                     bytes,
                                     {{sum.parts, word((m - members.begin) * bytes)}}});
        set.vertices.push_back(
            all(sum.tile, sum_of(bytes / 8),
                {Place{sum.parts}, Place{sum.sum}, bytes / 8, bytes, word(members.size())}));
        group_sums_[r][g].push_back(sum);
      }
    }
  }
  if (set.vertices.empty()) return;
  add_step(std::move(exchange));
  add_step(std::move(set));
}

/// The groups' sums come together on the tile that holds the list; the clock goes back a step.
void ProgramBuilder::add_final_sums() {
  Exchange exchange{"sums of groups", {}};
  ComputeSet set{"sums", {}};
  for (VectorId v = 1; v < homes_.size(); ++v) {
    for (std::uint32_t b = 0; b < plan_.batch; ++b) {
      std::vector<Place> parts;
      for (std::size_t r = 0; r < plan_.reductions.size(); ++r) {
        const Reduction& reduction = plan_.reductions[r];
        if (reduction.vector != v) continue;
        const std::size_t source = reduction.vector == reduction.layer ? 0 : 1;
        for (const auto& group : group_sums_[r]) parts.push_back({group[b].sum});
        if (!group_sums_[r].empty()) continue;
        for (const Neurons& tile : neurons_[reduction.layer])
          parts.push_back({tile.input_gradients[source], b * gradient_bytes(v)});
      }
      if (parts.empty()) continue;
      const Home& home = homes_[v][b];
      const std::uint32_t bytes = gradient_bytes(v);
      const BufferId gathered = buffer(home.tile, parts.size() * bytes, "sums of groups");
      for (std::size_t i = 0; i < parts.size(); ++i)
        exchange.copies.push_back({parts[i], bytes, {{gathered, word(i * bytes)}}});
      set.vertices.push_back(
          all(home.tile, sum_of(bytes / 8),
              {Place{gathered}, Place{home.gradients}, bytes / 8, bytes, word(parts.size())}));
    }
  }
  for (VectorId v = 1; v < homes_.size(); ++v)
    for (const Home& home : homes_[v])
      if (listed(v))
        set.vertices.push_back(
            all(home.tile, "snn_displace", {Place{home.own}, 0U, 0U, Place{home.by_neuron}}));
  add_ticks(set, ~0U, ~0U);
  add_place_ticks(set, ~0U, ~0U);
  fetch_back(set);
  for (VectorId v = 1; v < homes_.size(); ++v)
    if (listed(v)) place_gradients(set, v);
  if (!exchange.copies.empty()) add_step(std::move(exchange));
  add_step(std::move(set));
}

}  // namespace tessera::snn
