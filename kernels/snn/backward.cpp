#include "kernels/snn/statement.h"

/// The backward pass through time; states of all steps are stored, or recomputed from checkpoints,
/// a stretch of steps at a time.
namespace tessera::snn {

/// Prepares the first backward step: fetches the last step's lists, clears all gradients but those
/// of the outputs.
void Arrays::turn_round(Tile tile, Calls& calls) const {
  tick(clock, tile, 0, steps() - 1, calls);
  fetch_lists(tile, true, calls);
  for_lists(last(), tile, [&](VectorId v, std::uint32_t /*sample*/, std::uint64_t slot) {
    if (leads_on(v)) clear(calls, by_vector[v].gradients[slot], gradient_bytes(v));
  });
  for_lists(last(), tile, [&](VectorId v, std::uint32_t /*sample*/, std::uint64_t slot) {
    place_gradients(v, slot, calls);
  });
}

/// Scatters the gradients of the spikes in one of a vector's own lists to the array by neuron, from
/// which they are sent; adds those of the outputs.
void Arrays::place_gradients(VectorId vector, std::uint64_t slot, Calls& calls) const {
  const Vector& of = by_vector[vector];
  program::Argument listed_ones = 0U;
  program::Argument of_logits = 0U;
  if (leads_on(vector)) listed_ones = of.gradients[slot];
  if (vector == last()) of_logits = logit_gradients[slot];
  calls.add(all("snn_place", {of.own[slot], listed_ones, of_logits, of.by_neuron[slot]}));
}

/// Every tile receives the lists that lead to its neurons, and the gradients of all its neurons'
/// spikes, as published.
void Arrays::pull_back(Tile tile, Pulls& pulls) const {
  pull_lists(tile, false, pulls);
  const Neurons* const its = neurons(tile);
  if (its == nullptr || !listed(its->layer + 1)) return;
  const VectorId own = its->layer + 1;
  for (std::uint32_t b = 0; b < batch(); ++b) {
    Place from = of_sample(by_vector[own].by_neuron, own, b);
    from.offset += its->begin * 4;
    pulls.push_back(
        {{spike_gradients, 2 * b * its->pairs() * 4}, home(own, b), from, its->count() * 4});
  }
}

std::uint64_t Arrays::sent_back(Tile tile) const {
  std::uint64_t bytes = 0;
  for (VectorId v = 0; v < vector_count(); ++v) {
    if (!listed(v)) continue;
    const std::uint64_t gradients_of_all = v > 0 ? plan.lists[v].neurons * 4ULL : 0;
    bytes += homes(v, tile).size() * ((leads_on(v) ? list_bytes(v) : 0) + gradients_of_all);
  }
  return bytes;
}

void Arrays::add_state_gradient(const Neurons& its, Calls& calls) const {
  const std::string name = "snn_state_gradient_" + kind_name(its);
  if (kind(its) == NeuronKind::integrator)
    return calls.add(all(name, {batch(), its.pairs(), Place{parameters}, Place{logit_slopes},
                                Place{state_gradients}, Place{inputs}}));
  calls.add(
      all(name, {batch(), its.pairs(), Place{parameters}, Place{states}, word(slot_bytes(its)),
                 Place{recomputes(its) ? stretch_clock : clock}, Place{state_gradients},
                 Place{inputs}, Place{spike_gradients}, training::bits_of(options.steepness)}));
}

void Arrays::find_gradients(Tile tile, Calls& calls) const {
  const Neurons* const its = neurons(tile);
  if (its == nullptr) return;
  add_state_gradient(*its, calls);
  for (std::size_t s = 0; s < sources(its->layer).size(); ++s) {
    const VectorId v = sources(its->layer)[s];
    const std::uint32_t rows = s == 0 ? 0U : layer(*its).inputs * 8;
    calls.add(all(
        "snn_weight_gradient",
        {batch(), its->pairs(), gradient_copies(*its), Place{gradients}, word(weight_bytes(*its)),
         plane_bytes(*its), Place{inputs}, Place{lists[s]}, word(stride(v)), rows}));
    if (v > 0)
      calls.add(all(
          "snn_input_gradient",
          {batch(), its->pairs(), Place{weights}, plane_bytes(*its), Place{inputs},
           Place{input_gradients[s]}, gradient_bytes(v), Place{lists[s]}, word(stride(v)), rows}));
  }
}

/// Chooses the summing codelet by the size of the parts: the published one gives out four words at
/// a time.
void Arrays::add_sum(Place parts, Place sum, std::uint64_t bytes, std::uint64_t count,
                     Calls& calls) const {
  constexpr std::uint32_t kAtOnce = 4;
  const std::uint32_t words = word(bytes / 8);
  const bool few = plan.bits() && words < kAtOnce * contexts();
  calls.add(all(few ? "snn_sum_few" : "snn_sum", {parts, sum, words, word(bytes), word(count)}));
}

Place Arrays::parts_of_sum(std::size_t reduction, Tile tile, std::uint64_t sum) const {
  const Reduction& of = plan.reductions[reduction];
  const std::uint64_t begin = group_sums(of, tile).begin;
  const std::uint64_t first_of_last = std::uint64_t{of.groups - 1} * batch();
  const std::uint64_t before = std::min(std::max(first_of_last, begin), sum) - begin;
  return {by_reduction[reduction].parts,
          word(before * by_reduction[reduction].group +
               (sum - begin - before) * by_reduction[reduction].last_group)};
}

/// Each tile pulls the gradients of listed spikes that it sums, from the tiles of a group; samples
/// lie on different tiles.
void Arrays::pull_group_parts(Tile tile, Pulls& pulls) const {
  for_group_sums(tile, [&](std::size_t r, std::uint64_t sum, std::uint64_t /*place*/) {
    const Reduction& of = plan.reductions[r];
    const std::uint32_t bytes = gradient_bytes(of.vector);
    const LayerTiles& from = plan.layers[of.layer];
    const Interval members = of.members(word(sum / batch()), from.tiles);
    Place into = parts_of_sum(r, tile, sum);
    for (std::uint64_t m = members.begin; m < members.end; ++m, into.offset += bytes)
      pulls.push_back({into,
                       word(from.first + m),
                       {input_gradients[of.source()], word(sum % batch() * bytes)},
                       bytes});
  });
}

/// Bytes of spike gradients that a tile sends: to sums of groups (`in_groups`), or directly to
/// homes together with the group sums that it holds.
std::uint64_t Arrays::sent_gradients(Tile tile, bool in_groups) const {
  std::uint64_t bytes = 0;
  for (const Reduction& of : plan.reductions) {
    const std::uint64_t each = gradient_bytes(of.vector);
    const Neurons* const its = neurons(tile);
    if (its != nullptr && its->layer == of.layer && (of.groups > 1) == in_groups)
      bytes += batch() * each;
    if (!in_groups) bytes += group_sums(of, tile).size() * each;
  }
  return bytes;
}

void Arrays::add_groups(Tile tile, Calls& calls) const {
  for_group_sums(tile, [&](std::size_t r, std::uint64_t sum, std::uint64_t place) {
    const Reduction& of = plan.reductions[r];
    const std::uint32_t bytes = gradient_bytes(of.vector);
    add_sum(parts_of_sum(r, tile, sum), {by_reduction[r].sum, word(place * bytes)}, bytes,
            of.members(word(sum / batch()), plan.layers[of.layer].tiles).size(), calls);
  });
}

/// The tile that holds the list pulls the groups' sums.
void Arrays::pull_group_sums(Tile tile, Pulls& pulls) const {
  for (VectorId v = 1; v < vector_count(); ++v) {
    const std::uint32_t bytes = gradient_bytes(v);
    for_homes(v, tile, [&](std::uint32_t sample, std::uint64_t slot) {
      Place into = by_vector[v].sums[slot];
      const auto pull = [&](Tile from, Place source) {
        pulls.push_back({into, from, source, bytes});
        into.offset += bytes;
      };
      for (std::size_t r = 0; r < plan.reductions.size(); ++r) {
        const Reduction& of = plan.reductions[r];
        if (of.vector != v) continue;
        for (std::uint32_t g = 0; of.groups > 1 && g < of.groups; ++g) {
          const Tile from = of.tile(g, sample, batch());
          const std::uint64_t sum = std::uint64_t{g} * batch() + sample;
          pull(from, {by_reduction[r].sum, word((sum - group_sums(of, from).begin) * bytes)});
        }
        const LayerTiles& members = plan.layers[of.layer];
        for (std::uint32_t m = 0; of.groups == 1 && m < members.tiles; ++m)
          pull(members.first + m, {input_gradients[of.source()], sample * bytes});
      }
    });
  }
}

/// Adds the groups' sums and sets the clock back by one step.
void Arrays::step_back(Tile tile, Calls& calls) const {
  for_lists(1, tile, [&](VectorId v, std::uint32_t /*sample*/, std::uint64_t slot) {
    const Vector& of = by_vector[v];
    if (of.sums.each > 0)
      add_sum(of.sums[slot], of.gradients[slot], gradient_bytes(v),
              of.sums.each / gradient_bytes(v), calls);
  });
  for_lists(1, tile, [&](VectorId v, std::uint32_t /*sample*/, std::uint64_t slot) {
    calls.add(all("snn_displace", {by_vector[v].own[slot], 0U, 0U, by_vector[v].by_neuron[slot]}));
  });
  tick_both(tile, ~0U, calls);
  fetch_lists(tile, true, calls);
  for_lists(1, tile, [&](VectorId v, std::uint32_t /*sample*/, std::uint64_t slot) {
    place_gradients(v, slot, calls);
  });
}

/// Saves states to checkpoints (`name` "snn_save") or restores them ("snn_restore").
void Arrays::save_or_restore(Tile tile, const char* name, Calls& calls) const {
  const Neurons* const its = neurons(tile);
  if (its != nullptr && recomputes(*its))
    calls.add(all(name, {Place{states}, Place{checkpoints}, word(slot_bytes(*its)), Place{clock},
                         plan.checkpoint_steps}));
}

}  // namespace tessera::snn
