#include <algorithm>

#include "kernels/snn/statement.h"

namespace tessera::snn {

Layout::Layout(const Subject& subject, Plan its_plan)
    : Subject(subject), plan(std::move(its_plan)), neurons_(machine.tiles) {
  for (std::uint32_t l = 0; l < network.layers.size(); ++l) {
    sources_.push_back(Plan::sources(network, l));
    const LayerTiles& lies = plan.layers[l];
    for (std::uint32_t k = 0; k < lies.tiles; ++k) {
      const std::uint32_t begin = k * lies.neurons_per_tile;
      neurons_[lies.first + k] = {
          l, begin, std::min(begin + lies.neurons_per_tile, network.layers[l].neurons)};
    }
  }
}

const Neurons* Layout::listens_for(Tile tile) const {
  const Tile other = tile ^ 1U;
  if (!plan.neighbours_listen || other >= machine.tiles) return nullptr;
  const Neurons* const beside = neurons(other);
  const Neurons* const own = neurons(tile);
  return beside == nullptr || (own != nullptr && own->layer == beside->layer) ? nullptr : beside;
}

Interval Layout::sites(VectorId vector, Tile tile) const {
  if (tile < plan.first) return {0, 0};
  const ListPlan& list = plan.lists[vector];
  const std::uint64_t all = std::uint64_t{batch()} * list.spread;
  const auto first_on = [&](std::uint64_t number) {
    const std::uint64_t first = ceil_div(number * plan.homes, std::uint64_t{plan.tiles});
    return std::clamp<std::uint64_t>(first, list.first_home, list.first_home + all) -
           list.first_home;
  };
  return {first_on(tile - plan.first), first_on(tile - plan.first + 1)};
}

Interval Layout::homes(VectorId vector, Tile tile) const {
  const Interval its = sites(vector, tile);
  const std::uint64_t spread = plan.lists[vector].spread;
  return {ceil_div(its.begin, spread), ceil_div(its.end, spread)};
}

Interval Layout::group_sums(const Reduction& reduction, Tile tile) const {
  if (reduction.groups == 1 || tile < reduction.first || tile >= reduction.first + reduction.tiles)
    return {0, 0};
  const std::uint64_t all = std::uint64_t{reduction.groups} * batch();
  const std::uint64_t number = tile - reduction.first;
  return {ceil_div(number * all, std::uint64_t{reduction.tiles}),
          ceil_div((number + 1) * all, std::uint64_t{reduction.tiles})};
}

bool Layout::works(Tile tile) const {
  if (neurons(tile) != nullptr) return true;
  for (VectorId v = 0; v < vector_count(); ++v)
    if (sites(v, tile).size() > 0) return true;
  return false;
}

std::uint32_t Layout::state_slots(const Neurons& its) const {
  if (!options.train || kind(its) == NeuronKind::integrator) return 2;
  return (recomputes(its) ? plan.checkpoint_steps : options.time_steps) + 1;
}

}  // namespace tessera::snn
