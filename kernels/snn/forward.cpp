#include "kernels/snn/statement.h"

namespace tessera::snn {

/// Tiles of a layer pull the lists of its sources for all samples.
void Arrays::pull_lists_of(const Neurons& its, const std::function<Place(std::size_t)>& into,
                           Pulls& pulls) const {
  for (std::size_t s = 0; s < sources(its.layer).size(); ++s) {
    const VectorId v = sources(its.layer)[s];
    Place place = into(s);
    for (std::uint32_t b = 0; b < batch(); ++b, place.offset += word(stride(v)))
      pulls.push_back({place, home(v, b), of_sample(by_vector[v].list, v, b), list_bytes(v)});
  }
}

/// `again`: only for neurons whose states are recomputed.
void Arrays::pull_lists(Tile tile, bool again, Pulls& pulls) const {
  const auto taken = [&](const Neurons* its) {
    return its != nullptr && (!again || recomputes(*its));
  };
  if (const Neurons* const own = neurons(tile); taken(own))
    pull_lists_of(
        *own, [&](std::size_t source) { return Place{lists[source]}; }, pulls);
  if (const Neurons* const beside = listens_for(tile); taken(beside))
    pull_lists_of(
        *beside,
        [&](std::size_t source) {
          const std::uint64_t first = source == 0 ? 0 : batch() * stride(beside->layer);
          return Place{overheard, word(first)};
        },
        pulls);
}

/// Updates the neurons with the spikes of the step before.
void Arrays::update(Tile tile, bool again, Calls& calls) const {
  const Neurons* const its = neurons(tile);
  if (its == nullptr || (again && !recomputes(*its))) return;
  // If not all states are kept, two are: those of the step before and of this one.
  const bool keeps = again || state_slots(*its) > steps();
  const Arguments time{word(slot_bytes(*its)), keeps ? ~0U : 1U,
                       Place{again ? stretch_clock : clock}};
  calls.add(plan.bits() ? step_of_bits(*its, time) : published_step(*its, time));
}

program::Vertex Arrays::published_step(const Neurons& its, const Arguments& time) const {
  const std::vector<VectorId>& from = sources(its.layer);
  Arguments arguments{batch(),          its.pairs(),       word(from.size()), Place{weights},
                      plane_bytes(its), Place{parameters}, Place{states}};
  arguments.insert(arguments.end(), time.begin(), time.end());
  arguments.insert(arguments.end(), {Place{marks}, Place{sums}});
  for (std::size_t s = 0; s < from.size(); ++s)
    arguments.insert(arguments.end(),
                     {Place{lists[s]}, word(stride(from[s])), s == 0 ? 0U : layer(its).inputs * 8});
  return all("snn_update_" + kind_name(its), std::move(arguments));
}

program::Vertex Arrays::step_of_bits(const Neurons& its, const Arguments& time) const {
  const Layer& what = layer(its);
  const std::uint32_t pairs = its.pairs();
  const std::uint32_t full = marks_of(its) - 1;
  const std::uint32_t last = pairs - full * kNeuronsAWord / 2;
  const std::uint32_t others = contexts() - 1;
  Arguments arguments{batch(),
                      pairs,
                      contexts(),
                      word(what.recurrent()),
                      word(plan.wide),
                      Place{weights},
                      what.rows(),
                      what.inputs,
                      Place{streams},
                      Place{streams, pairs * 8},
                      Place{streams, pairs * 8 * (1 + stream_values(what.kind))},
                      Place{states}};
  arguments.insert(arguments.end(), time.begin(), time.end());
  arguments.insert(arguments.end(), {Place{marks}, full, last, kNeuronsAWord - 2 * last});
  arguments.push_back(states_of(what.kind) > 1 ? program::Argument{Place{drives}} : 0U);
  arguments.insert(arguments.end(),
                   {Place{sums}, contexts() * pairs, others * pairs, others * marks_of(its)});
  for (std::size_t s = 0; s < sources(its.layer).size(); ++s) {
    const std::uint32_t each = word(stride(sources(its.layer)[s]));
    arguments.insert(arguments.end(), {Place{lists[s]}, each, contexts() * each});
  }
  return all("snn_step_" + kind_name(its), std::move(arguments));
}

/// Each site pulls its part of its sample's marks.
void Arrays::pull_marks(Tile tile, Pulls& pulls) const {
  for_sites(tile, [&](VectorId v, std::uint64_t site, std::uint64_t slot) {
    const ListPlan& list = plan.lists[v];
    const std::uint64_t sample = site / list.spread;
    const Interval part = list.part(word(site % list.spread));
    for (std::uint64_t mark = part.begin, end = 0; mark < part.end; mark = end) {
      const std::uint64_t k = mark / list.marks_a_tile;
      const Tile source = word(plan.layers[v - 1].first + k);
      const std::uint64_t first = k * list.marks_a_tile;
      end = std::min(part.end, first + list.marks_a_tile);
      Place into = by_vector[v].marks[slot];
      into.offset += word((mark - part.begin) * 4);
      const std::uint64_t at = sample * marks_of(*neurons(source)) + mark - first;
      pulls.push_back({into, source, {marks, word(at * 4)}, word((end - mark) * 4)});
    }
  });
}

/// The workers of each site search their part of the marks.
void Arrays::select(Tile tile, Calls& calls) const {
  for_sites(tile, [&](VectorId v, std::uint64_t site, std::uint64_t slot) {
    const Vector& of = by_vector[v];
    const ListPlan& list = plan.lists[v];
    const std::uint32_t count = word(list.part(word(site % list.spread)).size());
    const std::uint32_t most = worker_capacity(v, count);
    const std::uint32_t bytes = found_bytes(most);
    calls.add(all(plan.bits() ? "snn_look" : "snn_select",
                  {of.marks[slot], count, ceil_div(count, contexts()), of.found[slot], bytes, most,
                   Place{clock}, of.key[slot]}));
    if (spreads(v))
      calls.add(all(plan.bits() ? "snn_join" : "snn_combine",
                    {of.found[slot], contexts(), bytes, most, site_capacity(v), of.joining[slot],
                     0U, 0U, 0U, 0U, Place{clock}, 0U}));
  });
}

void Arrays::pull_found(Tile tile, Pulls& pulls) const {
  for_lists(1, tile, [&](VectorId v, std::uint32_t sample, std::uint64_t slot) {
    const std::uint32_t bytes = found_bytes(site_capacity(v));
    Place into = by_vector[v].joined[slot];
    for (std::uint32_t part = 0; spreads(v) && part < plan.lists[v].spread; ++part) {
      const Tile from = plan.home(v, sample, part);
      const std::uint64_t site = std::uint64_t{sample} * plan.lists[v].spread + part;
      pulls.push_back({into, from, by_vector[v].joining[site - sites(v, from).begin], bytes});
      into.offset += bytes;
    }
  });
}

/// Makes and stores lists of what workers, or sites (`spread`), have found; counts output spikes.
void Arrays::join(Tile tile, bool spread, Calls& calls) const {
  for_lists(1, tile, [&](VectorId v, std::uint32_t /*sample*/, std::uint64_t slot) {
    if (spreads(v) != spread) return;
    const Vector& of = by_vector[v];
    const std::uint32_t from = spread ? site_capacity(v) : worker_capacity(v, plan.lists[v].marks);
    calls.add(
        all(plan.bits() ? "snn_join" : "snn_combine",
            {spread ? of.joined[slot] : of.found[slot], spread ? plan.lists[v].spread : contexts(),
             found_bytes(from), from, plan.lists[v].capacity, 0U, of.list[slot], of.stored[slot],
             word(stride(v)), ~0U, Place{clock}, of.totals[slot]}));
    if (v == last()) calls.add(one("snn_count", {of.list[slot], logits[slot]}));
  });
}

/// Fetches the next events and advances the clock.
void Arrays::end_step(Tile tile, Calls& calls) const {
  for_homes(0, tile, [&](std::uint32_t /*sample*/, std::uint64_t slot) {
    fetch(calls, 0, by_vector[0].list, slot, 1);
  });
  tick(clock, tile, ~0U, 1, calls);
}

/// Clears clocks, states, gradients and lists; fetches the first events.
void Arrays::begin(Tile tile, bool trains, Calls& calls) const {
  tick(clock, tile, 0, 0, calls);
  if (const Neurons* const its = neurons(tile)) {
    clear(calls, {states}, slot_bytes(*its));
    if (kind(*its) == NeuronKind::integrator) clear(calls, {sums}, value_bytes(*its));
    if (trains) clear(calls, {state_gradients}, slot_bytes(*its));
    if (trains) clear(calls, {gradients}, gradient_copies(*its) * weight_bytes(*its));
  }
  for_homes(0, tile, [&](std::uint32_t /*sample*/, std::uint64_t slot) {
    fetch(calls, 0, by_vector[0].list, slot, 0);
  });
  for (VectorId v = 1; v < vector_count(); ++v)
    for_homes(v, tile, [&](std::uint32_t /*sample*/, std::uint64_t slot) {
      if (listed(v)) {
        clear(calls, by_vector[v].list[slot], 8);
        clear(calls, by_vector[v].stored[slot], 8);
      }
      if (v == last()) clear(calls, logits[slot], logits.each);
    });
}

}  // namespace tessera::snn
