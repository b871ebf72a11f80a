#include <initializer_list>

#include "kernels/snn/program.h"
#include "kernels/training/matrix.h"

namespace tessera::snn {

using program::Copy;

/// A time step: all layers at once take the spikes of the step before, then all look for those of
/// this one.
void ProgramBuilder::add_forward() {
  add_step(send_lists());
  add_step(update_states());
  add_step(send_marks());
  ComputeSet selecting = select();
  Exchange found{"found spikes", {}};
  ComputeSet joining{"join spikes", {}};
  for (VectorId v = 1; v < homes_.size(); ++v) {
    if (!listed(v)) continue;
    const bool spread = plan_.lists[v].spread > 1;
    join(spread ? joining : selecting, v);
    for (const Home& home : homes_[v]) {
      if (!spread) break;
      const std::uint32_t bytes = found_bytes(home.parts.front().capacity);
      for (std::size_t s = 0; s < home.parts.size(); ++s)
        found.copies.push_back({{home.parts[s].joined}, bytes, {{home.joined, word(s * bytes)}}});
    }
  }
  end_step(found.copies.empty() ? selecting : joining);
  add_step(std::move(selecting));
  if (found.copies.empty()) return;
  add_step(std::move(found));
  add_step(std::move(joining));
}

Exchange ProgramBuilder::send_lists() {
  Exchange exchange{"spikes", {}};
  for (std::uint32_t l = 0; l < neurons_.size(); ++l) receive(exchange, l);
  return exchange;
}

/// Every tile of the layer takes the lists of all samples.
void ProgramBuilder::receive(Exchange& exchange, std::uint32_t layer) {
  const std::vector<VectorId> sources = Plan::sources(network_, layer);
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const VectorId v = sources[s];
    for (std::uint32_t b = 0; b < plan_.batch; ++b) {
      Copy copy{{homes_[v][b].list}, list_bytes(v), {}};
      for (const Neurons& tile : neurons_[layer])
        copy.destinations.push_back({tile.lists[s], b * stride(v)});
      add_neighbours(copy, layer);
      exchange.copies.push_back(std::move(copy));
    }
  }
}

/// The first and the last tile of a layer may share their pairs with tiles of other layers: those
/// listen too.
void ProgramBuilder::add_neighbours(Copy& copy, std::uint32_t layer) {
  if (!plan_.neighbours_listen) return;
  const LayerTiles& lies = plan_.layers[layer];
  const std::uint32_t last = lies.first + lies.tiles - 1;
  for (const std::uint32_t tile : {lies.first, last}) {
    const std::uint32_t other = tile ^ 1U;
    if ((other >= lies.first && other <= last) || other >= machine().tiles) continue;
    copy.destinations.push_back({buffer(other, copy.bytes, "spikes for a neighbour")});
    if (lies.tiles == 1) break;
  }
}

ComputeSet ProgramBuilder::update_states() {
  ComputeSet set{"update states", {}};
  add_checkpoints(set);
  for (std::uint32_t l = 0; l < neurons_.size(); ++l) {
    // Where not all are kept, two are: those of the step before and of this one.
    const bool keeps = state_slots(l) > options_.time_steps;
    for (const Neurons& tile : neurons_[l])
      set.vertices.push_back(update(tile, l, {clocks_.at(tile.tile)}, keeps ? ~0U : 1U));
  }
  return set;
}

program::Vertex ProgramBuilder::update(const Neurons& tile, std::uint32_t layer, Place clock,
                                       std::uint32_t mask) {
  if (plan_.bits()) return update_bits(tile, layer, clock, mask);
  const std::vector<VectorId> sources = Plan::sources(network_, layer);
  program::Vertex vertex =
      all(tile.tile, "snn_update_" + kind_name(layer),
          {plan_.batch, tile.pairs, word(sources.size()), Place{tile.weights}, plane_bytes(layer),
           Place{tile.parameters}, Place{tile.states}, slot_bytes(tile, layer), mask, clock,
           Place{tile.marks}, Place{tile.sums}});
  for (std::size_t s = 0; s < sources.size(); ++s) {
    vertex.arguments.emplace_back(Place{tile.lists[s]});
    vertex.arguments.emplace_back(stride(sources[s]));
    vertex.arguments.emplace_back(s == 0 ? 0U : network_.layers[layer].inputs * 8);
  }
  return vertex;
}

program::Vertex ProgramBuilder::update_bits(const Neurons& tile, std::uint32_t layer, Place clock,
                                            std::uint32_t mask) {
  const Layer& what = network_.layers[layer];
  const std::uint32_t words = tile.pairs * 8;
  const std::uint32_t full = marks_of(tile) - 1;
  const std::uint32_t last = tile.pairs - full * kNeuronsAWord / 2;
  program::Vertex vertex = all(tile.tile, "snn_step_" + kind_name(layer), {});
  const auto give = [&](std::initializer_list<program::Argument> arguments) {
    vertex.arguments.insert(vertex.arguments.end(), arguments);
  };
  give({plan_.batch, tile.pairs, contexts(), word(what.recurrent()), word(plan_.wide)});
  give({Place{tile.weights}, what.rows(), what.inputs});
  give({Place{tile.streams}, Place{tile.streams, words},
        Place{tile.streams, words * (1 + stream_values(what.kind))}});
  give({Place{tile.states}, slot_bytes(tile, layer), mask, clock});
  give({Place{tile.marks}, full, last, kNeuronsAWord - 2 * last});
  give({states_of(what.kind) > 1 ? program::Argument{Place{tile.drives}} : program::Argument{0U}});
  const std::uint32_t others = contexts() - 1;
  give({Place{tile.sums}, contexts() * tile.pairs, others * tile.pairs, others * marks_of(tile)});
  const std::vector<VectorId> sources = Plan::sources(network_, layer);
  for (std::size_t s = 0; s < sources.size(); ++s)
    give({Place{tile.lists[s]}, stride(sources[s]), contexts() * stride(sources[s])});
  return vertex;
}

/// Each tile that selects takes what it needs of the marks of its sample.
Exchange ProgramBuilder::send_marks() {
  Exchange exchange{"marks", {}};
  for (std::uint32_t l = 0; l < neurons_.size(); ++l) {
    const VectorId v = l + 1;
    if (!listed(v)) continue;
    const ListPlan& list = plan_.lists[v];
    for (std::size_t k = 0; k < neurons_[l].size(); ++k) {
      const Neurons& tile = neurons_[l][k];
      const std::uint64_t first = k * list.marks_a_tile;
      const std::uint64_t last = std::min<std::uint64_t>(first + list.marks_a_tile, list.marks);
      for (std::uint32_t s = 0; s < list.spread; ++s) {
        const kernels::Interval part = list.part(s);
        const std::uint64_t begin = std::max(part.begin, first);
        const std::uint64_t end = std::min(part.end, last);
        if (begin >= end) continue;
        for (std::uint32_t b = 0; b < plan_.batch; ++b)
          exchange.copies.push_back(
              {{tile.marks, word((std::uint64_t{b} * marks_of(tile) + begin - first) * 4)},
               word((end - begin) * 4),
               {{homes_[v][b].parts[s].marks, word((begin - part.begin) * 4)}}});
      }
    }
  }
  return exchange;
}

ComputeSet ProgramBuilder::select() {
  ComputeSet set{"select spikes", {}};
  for (VectorId v = 1; v < homes_.size(); ++v) {
    for (const Home& home : homes_[v]) {
      for (const Part& part : home.parts) {
        const Place clock{clocks_.at(part.tile)};
        const std::uint32_t found = found_bytes(part.worker_capacity);
        set.vertices.push_back(all(part.tile, plan_.bits() ? "snn_look" : "snn_select",
                                   {Place{part.marks}, part.count, part.chunk, Place{part.found},
                                    found, part.worker_capacity, clock, Place{part.key}}));
        if (home.parts.size() > 1)
          set.vertices.push_back(
              all(part.tile, plan_.bits() ? "snn_join" : "snn_combine",
                  {Place{part.found}, contexts(), found, part.worker_capacity, part.capacity,
                   Place{part.joined}, 0U, 0U, 0U, 0U, clock, 0U}));
      }
    }
  }
  return set;
}

/// The lists of a vector are made and stored, outputs counted.
void ProgramBuilder::join(ComputeSet& set, VectorId vector) {
  for (const Home& home : homes_[vector]) {
    const bool spread = home.parts.size() > 1;
    const Part& part = home.parts.front();
    const std::uint32_t from = spread ? part.capacity : part.worker_capacity;
    set.vertices.push_back(
        all(home.tile, plan_.bits() ? "snn_join" : "snn_combine",
            {Place{spread ? home.joined : part.found},
             spread ? word(home.parts.size()) : contexts(), found_bytes(from), from,
             plan_.lists[vector].capacity, 0U, Place{home.list}, Place{home.stored}, stride(vector),
             ~0U, Place{clocks_.at(home.tile)}, Place{home.totals}}));
    if (vector + 1 == homes_.size())
      set.vertices.push_back(one(home.tile, "snn_count", {Place{home.list}, Place{home.logits}}));
  }
}

/// The next events are brought.
void ProgramBuilder::end_step(ComputeSet& set) {
  for (const Home& home : homes_.front()) set.vertices.push_back(fetch(home, home.list, 0, 1));
  add_ticks(set, ~0U, 1);
}

}  // namespace tessera::snn
