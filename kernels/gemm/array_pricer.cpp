#include <algorithm>

#include "kernels/arrays/array_program.h"
#include "kernels/gemm/array_order.h"
#include "kernels/gemm/array_plan.h"
#include "sim/machine/nodes.h"

namespace tessera::gemm {
namespace {

std::uint64_t room_of(const TileConfig& tile) { return arrays::data_bytes(tile, kZeroBytes); }

/// Of the memory tile that has most.
std::uint64_t staged_bytes(const VectorGrid& grid, const arrays::Array& array) {
  const CoreTile tile = grid.plan.tile();
  const std::uint64_t rows = ceil_div(grid.plan.array_rows, array.columns);
  return 2 * (rows * tile.a_bytes(*grid.type) + CoreLayout(grid).b_slot +
              std::uint64_t{grid.plan.array_rows} * tile.c_bytes(*grid.type));
}

}  // namespace

ArrayPricer::ArrayPricer(const Product& product, const VectorType& type, MachineCosts& costs,
                         const KeptBlocks* blocks)
    : product_(product),
      type_(type),
      blocks_(blocks),
      steps_(costs),
      machine_(costs.machine()),
      array_(array_of(machine_)) {}

std::optional<Room> ArrayPricer::too_large(const VectorGrid& grid) const {
  const Room rooms[] = {{"a core", CoreLayout(grid).end, room_of(machine_.tile)},
                        {"a memory tile", staged_bytes(grid, array_),
                         room_of(tile_of(machine_, array_.first_memory))},
                        {"DDR", grid.a_bytes() + grid.b_bytes() + grid.c_bytes(),
                         room_of(tile_of(machine_, array_.ddr))}};
  if (const Room lists = lists_of(*grid.type, grid.plan.depth);
      grid.kept && lists.needed > lists.there)
    return lists;
  for (const Room& room : rooms)
    if (room.needed > room.there) return room;
  return std::nullopt;
}

std::optional<Room> ArrayPricer::too_many(const VectorPlan& plan) const {
  if (blocks_ == nullptr) return std::nullopt;
  const VectorGrid grid(product_, type_, plan);
  const std::uint64_t pairs = std::uint64_t{grid.n} / kKeptColumns * grid.steps;
  const Room room{"DDR", pairs * 2 * kept_bytes(type_), room_of(tile_of(machine_, array_.ddr))};
  return room.needed > room.there ? std::optional(room) : std::nullopt;
}

/// Measured on the machine's tile; with kept blocks each patch has so many pairs of them.
std::uint64_t ArrayPricer::call(const CoreTile& tile, Begins begins, Ends ends,
                                std::uint32_t pairs) {
  const auto [entry, is_new] =
      calls_.try_emplace({tile.rows, tile.columns, tile.depth, begins, ends, pairs}, 0);
  if (!is_new) return entry->second;
  std::optional<KeptSample> kept;
  if (pairs != 0)
    kept.emplace(type_, tile.columns / kKeptColumns, tile.columns / kKeptColumns * pairs);
  entry->second = steps_.vertex([&](program::Program& sample) {
    const auto add = [&](std::uint64_t bytes, std::span<const std::byte> contents = {}) {
      const auto fill = [contents](std::span<std::byte> into) {
        std::ranges::fill(into, std::byte{});
        std::ranges::copy(contents, into.begin());
      };
      return program::Place{sample.add_buffer(arrays::buffer_of(0, bytes, "sample", fill))};
    };
    CoreProduct product{
        &type_,
        tile,
        add(tile.a_bytes(type_)),
        kept ? add(kept->bytes.size() + std::size_t{2} * kept_bytes(type_), kept->bytes)
             : add(tile.b_bytes(type_)),
        add(tile.c_bytes(type_)),
        add(tile.sum_bytes(type_)),
        add(kZeroBytes),
        0,
        begins,
        ends,
        {}};
    if (kept) product.lists = {kept->lists.pairs, kept->lists.steps};
    return product.vertex(0, add_product_code(sample, type_, kept.has_value()));
  });
  return entry->second;
}

/// A tile of so many pairs in all its patches, of what tiles of two and four each take.
std::uint64_t ArrayPricer::kept_call(const VectorGrid& grid, Begins begins, Ends ends,
                                     std::uint64_t pairs) {
  const CoreTile tile = grid.plan.tile();
  const std::uint64_t two = call(tile, begins, ends, 2);
  const std::uint64_t more = call(tile, begins, ends, 4) - two;
  const std::uint64_t unit = std::uint64_t{2} * grid.kept->patches();
  return two + more * pairs / unit - more;
}

/// Of a block on average: in each step that of the column of cores whose tile is the fullest.
std::uint64_t ArrayPricer::kept_compute(const VectorGrid& grid) {
  std::uint64_t sum = 0;
  for (std::uint32_t block = 0; block < grid.column_blocks; ++block)
    for (std::uint32_t step = 0; step < grid.steps; ++step) {
      std::uint32_t most = 0;
      for (std::uint32_t column = 0; column < grid.plan.array_columns; ++column)
        most = std::max(most, grid.kept->pairs(block * grid.plan.array_columns + column, step));
      sum += kept_call(grid, grid.begins(step), grid.ends(step), most);
    }
  return ceil_div(sum, std::uint64_t{grid.column_blocks});
}

std::vector<std::uint64_t> ArrayPricer::calls(const VectorGrid& grid) {
  if (grid.kept) return std::vector(3, ceil_div(kept_compute(grid), std::uint64_t{grid.steps}));
  std::vector<std::uint64_t> calls;
  for (const std::uint32_t step : {0U, std::min(1U, grid.steps - 1), grid.steps - 1})
    calls.push_back(call(grid.plan.tile(), grid.begins(step), grid.ends(step)));
  return calls;
}

std::optional<PricedProduct> ArrayPricer::price(const VectorGrid& grid, std::uint64_t below) {
  const std::vector<std::uint64_t> calls = this->calls(grid);
  const ArrayOrder order(grid, array_);
  arrays::Timeline timeline(machine_, array_.nodes());
  order.add(timeline);
  const std::uint64_t steps = grid.steps;
  // A core starts and awaits two transfers a step, and results; DDR those of all cores.
  constexpr std::uint64_t kTransfer = 2 * arrays::Timeline::kLeastControl;
  std::uint64_t computed = kTransfer * (2 * steps + 1) + calls.front();
  if (steps > 1) computed += (steps - 2) * calls[1] + calls.back();
  const std::uint64_t transfers =
      steps * (grid.plan.array_rows + grid.plan.array_columns) + grid.plan.array_columns;
  const std::uint64_t moved =
      std::max(kTransfer * transfers, timeline.least([&](arrays::Channel channel) {
        return order.is_of_steps(channel) ? steps : 1;
      }));
  if (order.blocks() * std::max(computed, moved) >= below) return std::nullopt;
  Prediction prediction;
  prediction.compute_cycles = order.blocks() * computed;
  const auto add = [&](std::uint32_t node, std::uint32_t step, arrays::Items& items) {
    order.add(node, step, items);
    for (arrays::Item& item : items)
      if (item.kind == arrays::Item::Kind::work)
        item.cycles = step % steps == 0         ? calls.front()
                      : (step + 1) % steps == 0 ? calls.back()
                                                : calls[1];
  };
  prediction.cycles = std::max(
      timeline.run({order.steps(), {1, grid.steps, grid.steps * order.list_blocks()}, add}),
      prediction.compute_cycles + machine_.sync.chip_cycles);
  prediction.sync_cycles = machine_.sync.chip_cycles;
  prediction.exchange_cycles =
      prediction.cycles - prediction.compute_cycles - prediction.sync_cycles;
  if (prediction.cycles >= below) return std::nullopt;
  return PricedProduct{grid.plan, prediction, computed >= moved ? "compute" : "DDR"};
}

}  // namespace tessera::gemm
