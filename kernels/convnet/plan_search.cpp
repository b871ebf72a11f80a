#include <algorithm>
#include <optional>

#include "kernels/convnet/plan.h"
#include "kernels/pinned.h"
#include "sim/base/counted.h"
#include "sim/base/errors.h"

/// The mapping of a layer: pinned, or the fastest.
namespace tessera::convnet {
/// The config's plan of a layer; null: none.
const LayerPlan* Planner::pin_of(const std::string& layer) const {
  const auto found = std::ranges::find(pinned_.layers, layer, &LayerPlan::layer);
  return found == pinned_.layers.end() ? nullptr : &*found;
}

/// Sets a layer's pinned mapping; false if there is none.
bool Planner::take_pinned(LayerShape& shape) const {
  const LayerPlan* const pin = pin_of(shape.layer().name);
  if (pin == nullptr) return false;
  const Mapping& mapping = shape.mapping = pin->mapping;
  const auto require = [&](bool holds, const char* key, const auto& found,
                           const std::string& allowed) {
    kernels::require_pinned(holds, fmt::format("layers[{}].{}", pin - pinned_.layers.data(), key),
                            found, allowed);
  };
  const std::uint32_t height = shape.layer().output.height;
  require(mapping.rows <= height, "rows", mapping.rows,
          fmt::format("at most the {} of {}", counted(height, "row"), shape.layer().name));
  require(mapping.core_rows <= shape.array().rows, "core_rows", mapping.core_rows,
          fmt::format("at most the {} of the array", counted(shape.array().rows, "row")));
  require(mapping.group <= shape.most_blocks(), "group", mapping.group,
          fmt::format("at most the {} of a core", counted(shape.most_blocks(), "block")));
  const std::uint32_t planes = block_planes(shape.type());
  require(mapping.group % planes == 0, "group", mapping.group,
          fmt::format("multiples of {} with dtype {}", planes, shape.type().name));
  require(!mapping.zeros || shape.is_pruned(), "zeros", true,
          "false of layers that are not pruned");
  require(shape.kept() % mapping.parts == 0, "parts", mapping.parts,
          fmt::format("divisors of the {} that {} kept", counted(shape.kept(), "input block"),
                      shape.kept() == 1 ? "is" : "are"));
  require(mapping.parts == 1 || mapping.order != Order::weights, "parts", mapping.parts,
          "1 with order weights");
  require(mapping.order != Order::inputs || (shape.is_convolution() && shape.steps_alike()),
          "order", "\"inputs\"",
          "\"rows\" or \"weights\" of layers but convolutions that are not pruned, or with zeros");
  const std::uint32_t bytes = shape.core_layout().bytes();
  require(bytes <= core_capacity_, "rows", mapping.rows,
          fmt::format("mappings of at most {} bytes of a core; this one needs {}", core_capacity_,
                      bytes));
  return true;
}

std::optional<Priced> Planner::fastest(LayerShape& shape, std::uint64_t limit) {
  if (take_pinned(shape)) return price(shape);
  return pinned_.rules == Rules::published ? search_published(shape) : search(shape, limit);
}

Priced Planner::best(LayerShape& shape) {
  if (const auto found = fastest(shape)) return *found;
  if (staged_limit_ != UINT32_MAX)
    throw UserError(
        "network {}: layer {}: one row of {} and its results, in transfer from and to DDR, do not "
        "fit in half of a memory tile of {} KiB (machine.nodes[0].tile.sram_kib)",
        plan_.network->name, shape.layer().name, text_of(shape.layer().output),
        machine_.nodes[0].tile.sram_kib);
  throw UserError(
      "layer {}: one row of {} with {} channels of its weights does not fit in a core of {} KiB "
      "(machine.tile.sram_kib)",
      shape.layer().name, text_of(shape.layer().output),
      block_planes(shape.type()) * shape.type().outputs, machine_.tile.sram_kib);
}

/// The first published mapping that fits a core if it holds all weights, else the fastest that
/// fits.
std::optional<Priced> Planner::search_published(LayerShape& shape) {
  std::optional<Priced> found;
  for (const Mapping& mapping : published_mappings(shape)) {
    shape.mapping = mapping;
    if (shape.core_layout().bytes() > core_capacity_) continue;
    const Priced priced = price(shape);
    const bool keeps_weights = mapping.group >= shape.most_blocks() && mapping.parts == 1;
    if (keeps_weights) return priced;
    if (!found || priced.cycles < found->cycles) found = priced;
  }
  return found;
}

/// The fastest mapping that fits a core; shape.mapping.adds: with the fused addition.
std::optional<Priced> Planner::search(LayerShape& shape, std::uint64_t limit) {
  const Layer& layer = shape.layer();
  shape.mapping.zeros = false;
  LayerCosts::Found& known =
      costs_->found[{layer.op, layer.input, layer.output, layer.window, shape.kept(), shape.ddr,
                     shape.split(), shape.mapping.adds, staged_limit_, piece_limit_, limits_.rows}];
  if (!known.mapping && known.limit < limit) known = {search_all(shape, limit), limit};
  return known.mapping;
}

/// Prices a mapping with one or two buffers for rows and for weights. If the fastest is below
/// `limit`, it becomes `found` and its cycles the limit.
void Planner::consider(LayerShape& shape, std::optional<Priced>& found, std::uint64_t& limit) {
  ++costs_->considered;
  Mapping& mapping = shape.mapping;
  mapping.pieces = 1;
  mapping.pieces = pieces(shape);
  const StagedBytes beside = shape.beside();
  if (std::uint64_t{beside.rows} + beside.operands + beside.results > staged_limit_) return;
  const bool has_others =
      mapping.rows < shape.layer().output.height || mapping.order == Order::inputs;
  Busy least = moved(shape);
  least.parts.compute += shape.products();  // at least a slot each
  std::optional<CoreLayout> layout;
  std::optional<Busy> known;
  for (const std::uint32_t weight_buffers : {1U, 2U})
    for (std::uint32_t row_buffers = 1; row_buffers <= (has_others ? 2U : 1U); ++row_buffers) {
      mapping.row_buffers = row_buffers;
      mapping.weight_buffers = weight_buffers;
      if (price(least, mapping).cycles >= limit) continue;
      if (!layout) layout = shape.core_layout();
      layout->row_buffers = row_buffers;
      layout->weight_buffers = weight_buffers;
      if (layout->bytes() > core_capacity_) continue;
      if (!known) known = busy(shape);
      const Priced priced = price(*known, mapping);
      if (priced.cycles >= limit) continue;
      found = priced;
      limit = priced.cycles;
    }
}

/// Considers all mappings with the core_rows and zeros of shape.mapping.
void Planner::consider_all(LayerShape& shape, std::optional<Priced>& found, std::uint64_t& limit) {
  Mapping& mapping = shape.mapping;
  const std::uint32_t planes = block_planes(shape.type());
  const auto consider_orders = [&](std::initializer_list<Order> orders) {
    for (const Order order : orders) {
      mapping.order = order;
      consider(shape, found, limit);
    }
  };
  const std::uint32_t height = shape.layer().output.height, rounds = shape.most_blocks() / planes;
  for (const std::uint32_t row_parts : kernels::part_counts(height, height))
    for (const std::uint32_t round_parts : kernels::part_counts(rounds, rounds)) {
      mapping.rows = ceil_div(height, row_parts);
      mapping.group = ceil_div(rounds, round_parts) * planes;
      mapping.parts = 1;
      consider_orders({Order::rows, Order::weights});
      if (!shape.is_convolution()) continue;
      for (mapping.parts = 2; mapping.parts <= shape.kept(); ++mapping.parts) {
        if (shape.kept() % mapping.parts != 0) continue;
        consider_orders({Order::rows});
        if (shape.steps_alike()) consider_orders({Order::inputs});
      }
    }
}

/// Searches a pruned layer also with pruned blocks as zeros, which allows order `inputs`.
std::optional<Priced> Planner::search_all(LayerShape& shape, std::uint64_t limit) {
  std::optional<Priced> found;
  Mapping& mapping = shape.mapping;
  for (const bool zeros : {false, true}) {
    if (zeros && !shape.is_pruned()) continue;
    mapping.zeros = zeros;
    // Tile code may take less time for more blocks, for example for 4 than for 3.
    for (std::uint32_t core_rows = limits_.rows, before = 0; core_rows > 0; --core_rows) {
      mapping.core_rows = core_rows;
      if (shape.most_blocks() == before || shape.products() >= limit) continue;
      before = shape.most_blocks();
      consider_all(shape, found, limit);
    }
  }
  return found;
}

}  // namespace tessera::convnet
