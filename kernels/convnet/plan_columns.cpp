#include <algorithm>
#include <numeric>

#include "kernels/convnet/plan.h"
#include "sim/base/counted.h"
#include "sim/base/ranges.h"

/// The number of array columns over which each tensor is split.
namespace tessera::convnet {

std::vector<std::vector<std::uint32_t>> split_alike(const Network& network) {
  std::vector<std::uint32_t> first(network.layers.size());  // by layer: first layer of its group
  std::iota(first.begin(), first.end(), 0U);
  for (std::uint32_t number = 0; number < first.size(); ++number) {
    const Layer& layer = network.layers[number];
    if (layer.op != Operator::add && layer.op != Operator::concatenate) continue;
    for (const std::uint32_t input : layer.inputs) {
      const auto [into, from] = std::minmax(first[input], first[number]);
      std::ranges::replace(first, std::uint32_t{from}, std::uint32_t{into});
    }
  }
  std::vector<std::vector<std::uint32_t>> groups(first.size());
  for (std::uint32_t number = 0; number < first.size(); ++number)
    groups[first[number]].push_back(number);
  std::erase_if(groups, [](const auto& group) { return group.empty(); });
  return groups;
}

/// The config's columns for a layer's tensor; none if not pinned.
std::optional<Planner::PinnedColumns> Planner::columns_pin(const Layer& layer) const {
  if (layer.op == Operator::input && pinned_.image_columns > 0)
    return PinnedColumns{"workload.plan.image_columns", layer.name, pinned_.image_columns};
  const LayerPlan* const pin = pin_of(layer.name);
  if (pin == nullptr) return std::nullopt;
  return PinnedColumns{fmt::format("workload.plan.layers[{}].columns", pin - pinned_.layers.data()),
                       layer.name, pin->columns};
}

/// Splits groups with a pinned layer accordingly, all others over the maximum; free_ collects the
/// latter.
void Planner::split() {
  const std::uint32_t all = plan_.array.columns;
  const auto columns_of = [all](const PinnedColumns& pin) {
    return pin.columns == 0 ? all : pin.columns;
  };
  plan_.columns.assign(plan_.network->layers.size(), all);
  free_.clear();
  for (std::uint32_t number = 0; number < groups_.size(); ++number) {
    std::optional<PinnedColumns> first;
    for (const std::uint32_t layer : groups_[number]) {
      const std::optional<PinnedColumns> pin = columns_pin(plan_.network->layers[layer]);
      if (!pin) continue;
      const auto require = [&](bool holds, const std::string& allowed) {
        if (!holds) throw KeyError(pin->key, "found {}, allowed {}", pin->columns, allowed);
      };
      require(pin->columns <= all,
              fmt::format("at most the {} of the array", counted(all, "column")));
      if (!first) first = pin;
      require(columns_of(*pin) == columns_of(*first),
              fmt::format("{}, as for {}: added and concatenated tensors have equal splits",
                          columns_of(*first), first->layer));
    }
    if (first)
      set_columns(groups_[number], columns_of(*first));
    else
      free_.push_back(number);
  }
  for (const std::uint32_t number : free_) set_columns(groups_[number], limits_.columns);
}

void Planner::set_columns(std::span<const std::uint32_t> layers, std::uint32_t columns) {
  for (const std::uint32_t layer : layers) plan_.columns[layer] = columns;
}

/// Finds the fastest mappings of `layers` for the current splits. Returns their cycles, including
/// loading the image and storing the result; none if these are not below `limit` or a layer does
/// not fit.
std::optional<std::uint64_t> Planner::map(std::span<const std::uint32_t> layers,
                                          std::uint64_t limit) {
  const Network& network = *plan_.network;
  const auto moved = [&](const char* name, std::uint32_t number) {
    const Layer& layer = network.layers[number];
    return moved_whole(name,
                       {layer.output.height, layer.output.width,
                        planes_of(layer.output.channels, type_of(layer)), plan_.columns[number]});
  };
  std::uint64_t sum =
      moved(kLoad, 0) + moved(kStore, static_cast<std::uint32_t>(network.layers.size() - 1));
  for (const std::uint32_t number : layers) {
    if (const std::optional<std::uint32_t> addition = network.addition_of(number))
      plan_.made[*addition] = false;
    sum += least(number);
  }
  for (const std::uint32_t number : layers) {
    if (sum >= limit) return std::nullopt;
    if (!plan_.computes(number)) continue;
    sum -= least(number);
    LayerShape shape = shape_of(plan_, number);
    const std::optional<Priced> found = fastest(shape, limit - sum);
    if (!found) return std::nullopt;
    plan_.layers[number] = *found;
    make_addition(number);
    sum += plan_.layers[number].cycles;
  }
  return sum < limit ? std::optional(sum) : std::nullopt;
}

/// Lower bound of a layer's cycles; 0 for additions, which may be fused with convolutions.
std::uint64_t Planner::least(std::uint32_t number) const {
  const Layer& layer = plan_.network->layers[number];
  return is_computed(layer) && layer.op != Operator::add ? least(shape_of(plan_, number)) : 0;
}

/// Layers whose time depends on the split of a group's tensors.
std::vector<std::uint32_t> Planner::affected(std::span<const std::uint32_t> group) const {
  std::vector<std::uint32_t> layers(group.begin(), group.end());
  for (const std::uint32_t layer : group)
    for (const std::uint32_t user : plan_.network->users(layer)) {
      add_once(layers, user);
      if (const auto addition = plan_.network->addition_of(user)) add_once(layers, *addition);
    }
  std::ranges::sort(layers);
  return layers;
}

/// Splits tensors over fewer columns if that is faster: all alike, then group by group. With few
/// columns per core, rows are short: tile code computes fewer positions at a time, and more columns
/// come from neighbours.
void Planner::narrow() {
  if (free_.empty()) return;
  std::vector<std::uint32_t> all(plan_.network->layers.size());
  std::iota(all.begin(), all.end(), 0U);
  Plan best = plan_;
  // Keeps the current splits if layers become faster; otherwise restores the best plan.
  const auto try_columns = [&](std::span<const std::uint32_t> layers, std::uint64_t& before) {
    const std::optional<std::uint64_t> now = map(layers, before);
    if (now) {
      best = plan_;
      before = *now;
    } else {
      plan_ = best;
    }
  };
  std::uint64_t cycles = UINT64_MAX;
  for (std::uint32_t columns = limits_.columns; columns > 0; --columns) {
    for (const std::uint32_t number : free_) set_columns(groups_[number], columns);
    try_columns(all, cycles);
  }
  for (const std::uint32_t number : free_) {
    const std::vector<std::uint32_t>& group = groups_[number];
    const std::vector<std::uint32_t> layers = affected(group);
    const std::uint32_t width = std::ranges::max(mapped(
        group, [this](std::uint32_t layer) { return plan_.network->layers[layer].output.width; }));
    std::uint64_t before = UINT64_MAX;
    try_columns(layers, before);
    for (std::uint32_t columns = limits_.columns, slice = 0; columns > 0; --columns) {
      if (ceil_div(width, columns) == slice) continue;
      slice = ceil_div(width, columns);
      set_columns(group, columns);
      try_columns(layers, before);
    }
  }
}

}  // namespace tessera::convnet
