#include <algorithm>

#include "kernels/convnet/plan.h"
#include "sim/machine/nodes.h"

/// Cycles of a layer with a mapping, and of the transfers before and after all layers.
namespace tessera::convnet {

/// Cycles to move all columns' slices of a tensor from or to DDR at once, and the barrier after it;
/// only the barrier if the tensor is in DDR.
std::uint64_t Planner::moved_whole(const char* name, const Held& held) const {
  if (held.outside) return machine_.sync.chip_cycles;
  const StreamConfig& kind = machine_.fabric.streams[*stream_number(machine_, name)];
  const std::uint32_t ports = ddr_waits()                       ? 1
                              : std::string_view(name) == kLoad ? kind.send_ports
                                                                : kind.receive_ports;
  std::uint64_t longest = 0, all = 0, control = 0;
  for (std::uint32_t column = 0; column < plan_.array.columns; ++column) {
    const std::uint64_t positions = std::uint64_t{held.slice(column).size()} * held.height;
    if (positions == 0) continue;
    const std::uint64_t cycles = stream(name, positions * held.blocks * kPositionBytes);
    longest = std::max(longest, cycles);
    all += cycles;
    control += calls_.transfer();
  }
  return machine_.sync.chip_cycles + control +
         (ports == 0 ? longest : std::max(longest, ceil_div(all, std::uint64_t{ports})));
}

std::uint64_t Planner::stream(const char* name, std::uint64_t bytes) const {
  const StreamConfig& kind = machine_.fabric.streams[*stream_number(machine_, name)];
  return stream_cycles(kind, bytes) + machine_.fabric.fixed_cycles;
}

/// Cycles of the memory tile that takes longest to send or receive columns of neighbours.
std::uint64_t Planner::halo(const LayerShape& shape) const {
  const Layer& layer = shape.layer();
  if (!layer.has_window()) return 0;
  const std::uint64_t column_bytes =
      std::uint64_t{layer.input.height} * shape.input_blocks() * kPositionBytes;
  std::vector<std::uint64_t> given(plan_.array.columns), taken(plan_.array.columns);
  for (const HaloPart& each : halo_of(shape)) {
    const std::uint64_t cycles = stream(kHalo, each.part.size() * column_bytes);
    given[each.owner] += cycles;
    taken[each.column] += cycles;
  }
  const std::uint64_t most = std::max(std::ranges::max(given), std::ranges::max(taken));
  return most == 0 ? 0 : most + calls_.transfer();
}

/// Total busy cycles of each resource, independent of buffers.
Planner::Busy Planner::busy(const LayerShape& shape) {
  Busy all = moved(shape);
  all.parts.compute += calls_.layer(shape);
  return all;
}

/// Busy cycles without the cores' compute calls.
Planner::Busy Planner::moved(const LayerShape& shape) const {
  const Mapping& mapping = shape.mapping;
  const Ddr& ddr = shape.ddr;
  const auto [row_tiles, new_weights, result_tiles] = counts_of(shape);
  const std::uint64_t weight_tiles = shape.has_weights() ? new_weights : 0;
  const std::uint32_t width = shape.column(0).sent();
  const std::uint64_t rows = stream(kActivations, shape.row_bytes());
  // A memory tile loads and sends the weights of all its rows of cores that have weights.
  const std::uint32_t piece = shape.piece(0).size();
  const std::uint64_t each =
      shape.pieces() * std::max(stream(kWeights, piece), stream(kLoadWeights, piece));
  const std::uint32_t working = shape.working_rows();
  const std::uint64_t weights =
      shape.has_weights() ? ceil_div(working, plan_.array.columns) * each : 0;
  const std::uint64_t result_bytes =
      std::uint64_t{std::min(shape.core_rows() * mapping.group, shape.output_blocks())} *
      mapping.rows * width * kPositionBytes;
  const std::uint64_t results = stream(kResults, result_bytes);
  const std::uint64_t operands = mapping.adds ? result_tiles : 0;
  Priced priced{mapping,
                0,
                (row_tiles + weight_tiles + operands + result_tiles) * calls_.transfer(),
                row_tiles * rows + operands * stream(kActivations, result_bytes),
                weight_tiles * weights,
                result_tiles * results};
  if (ddr.loads)
    priced.load =
        row_tiles * stream(kLoad, std::uint64_t{shape.tensors()} * shape.staged_row_bytes());
  if (ddr.adds) priced.load += operands * stream(kLoad, shape.staged_result_bytes());
  if (ddr.stores) priced.store = result_tiles * stream(kStore, shape.staged_result_bytes());
  // The first rows and weights arrive concurrently.
  const std::uint64_t halo = ddr.loads ? 0 : this->halo(shape);
  const std::uint64_t fill = halo + std::max(rows, weights) + results +
                             (priced.load + priced.store) / std::max<std::uint64_t>(row_tiles, 1);
  const std::uint64_t items = std::uint64_t{shape.row_tiles()} * shape.groups() * mapping.parts;
  Busy busy{priced, row_tiles, weight_tiles, fill, items, halo};
  if (ddr_waits())
    busy.ddr = weight_tiles * shape.pieces() * working * stream(kLoadWeights, piece) +
               (shape.split().output - 1) * (priced.load + priced.store);
  return busy;
}

/// Lower bound of cycles of any mapping: one slot per product, or transferring all bytes once.
std::uint64_t Planner::least(LayerShape shape) const {
  shape.mapping = {};
  shape.mapping.rows = shape.layer().output.height;
  shape.mapping.group = shape.is_convolution() ? shape.most_blocks()
                                               : ceil_div(shape.output_blocks(), shape.core_rows());
  const Priced once = moved(shape).parts;
  // Rows of cores may have fewer blocks than the maximum, and memory tiles fewer rows of cores.
  const std::uint64_t room = std::uint64_t{shape.most_blocks()} * plan_.array.columns *
                             ceil_div(shape.working_rows(), plan_.array.columns);
  const std::uint64_t weights = once.weights * shape.output_blocks() / room;
  return std::max({shape.products(), once.rows, weights, once.results, once.load, once.store});
}

/// Cycles with the buffers of `mapping`: resources work concurrently, except where they wait for a
/// buffer, plus the time to fill the pipeline.
Priced Planner::price(const Busy& busy, const Mapping& mapping) const {
  Priced priced = busy.parts;
  priced.mapping = mapping;
  // All transfers after the first, which fills the pipeline.
  const auto others = [](std::uint64_t all, std::uint64_t tiles) {
    return tiles == 0 ? 0 : all - all / tiles;
  };
  std::uint64_t serial = priced.compute;
  if (mapping.row_buffers == 1) serial += others(priced.rows, busy.row_tiles);
  // Only the first piece of the next tile of weights arrives while a core computes. In order
  // `weights` nothing else moves while cores wait for the rest.
  const std::uint64_t next = others(priced.weights, busy.weight_tiles);
  const std::uint64_t waits = mapping.weight_buffers == 1 ? next : others(next, mapping.pieces);
  const std::uint64_t alone = mapping.order == Order::weights ? waits : 0;
  serial += waits - alone;
  const std::uint64_t moved =
      priced.rows + priced.weights + priced.results + priced.load + priced.store;
  const std::uint64_t first = pinned_.rules == Rules::published && busy.weight_tiles > 0
                                  ? priced.weights / (busy.weight_tiles * mapping.pieces)
                                  : 0;
  // A single tile is already counted in the fill.
  const auto streamed = [](std::uint64_t all, std::uint64_t tiles) { return tiles == 1 ? 0 : all; };
  // Without overlap DDR serves one memory tile after the other. It loads the next weights while
  // cores compute, if they need no rows first.
  const std::uint64_t early = busy.weight_tiles - std::min(busy.weight_tiles, busy.row_tiles);
  const std::uint64_t hidden =
      early == 0 ? 0 : std::min(priced.compute, busy.ddr / busy.weight_tiles * early);
  priced.cycles = overlaps() ? std::max({serial, streamed(priced.rows, busy.row_tiles),
                                         streamed(priced.weights, busy.weight_tiles),
                                         priced.results, priced.load, priced.store}) +
                                   alone + busy.fill + first
                             : priced.compute + moved + busy.halo + busy.ddr - hidden;
  priced.cycles += machine_.sync.chip_cycles;  // the barrier that ends a layer
  priced.cycles += limits_.item_cycles * busy.items;
  return priced;
}

}  // namespace tessera::convnet
