#include <algorithm>

#include "kernels/gemm/array_plan.h"
#include "sim/machine/nodes.h"

namespace tessera::gemm {
namespace {

/// Bytes of A that lists of kept blocks reach, and may.
constexpr std::uint32_t kMostReach = 1U << 16;
std::uint64_t kept_reach(const ArrayGrid& grid) {
  return std::uint64_t{grid.patch.rows} * grid.plan.depth * grid.type->bytes;
}

/// What is left of a node's memory, wherever tensors and stacks begin.
std::uint64_t room_of(const TileConfig& tile) {
  const std::uint64_t taken = 2 * kSlotAlign + kZeroBytes + tile.supervisor_stack_bytes +
                              std::uint64_t{tile.contexts} * tile.worker_stack_bytes;
  return sram_bytes(tile) - std::min(sram_bytes(tile), taken);
}

/// Of the memory tile that has most.
std::uint64_t staged_bytes(const ArrayGrid& grid, const arrays::Array& array) {
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
      array_(array_of(machine_, type)) {}

std::optional<ArrayPricer::Room> ArrayPricer::too_large(const ArrayGrid& grid) const {
  const Room rooms[] = {{"a core", CoreLayout(grid).end, room_of(machine_.tile)},
                        {"a memory tile", staged_bytes(grid, array_),
                         room_of(tile_of(machine_, array_.first_memory))},
                        {"DDR", grid.a_bytes() + grid.b_bytes() + grid.c_bytes(),
                         room_of(tile_of(machine_, array_.ddr))}};
  if (grid.kept && kept_reach(grid) > kMostReach)
    return Room{"the lists of kept blocks", kept_reach(grid), kMostReach};
  for (const Room& room : rooms)
    if (room.needed > room.there) return room;
  return std::nullopt;
}

std::optional<ArrayPricer::Room> ArrayPricer::too_many(const ArrayPlan& plan) const {
  if (blocks_ == nullptr) return std::nullopt;
  const ArrayGrid grid(product_, type_, plan);
  const std::uint64_t pairs = std::uint64_t{grid.n} / kKeptColumns * grid.steps;
  const Room room{"DDR", pairs * 2 * kept_bytes(type_), room_of(tile_of(machine_, array_.ddr))};
  return room.needed > room.there ? std::optional(room) : std::nullopt;
}

std::uint64_t ArrayPricer::stream(const char* name, std::uint64_t bytes) const {
  return stream_cycles(machine_.fabric.streams[*stream_number(machine_, name)], bytes) +
         machine_.fabric.fixed_cycles;
}

/// Measured on the machine's tile; with kept blocks each patch has so many pairs of them.
std::uint64_t ArrayPricer::call(const CoreTile& tile, Begins begins, Ends ends,
                                std::uint32_t pairs) {
  const auto [entry, is_new] =
      calls_.try_emplace({tile.rows, tile.columns, tile.depth, begins, ends, pairs}, 0);
  if (!is_new) return entry->second;
  std::optional<KeptSample> kept;
  if (pairs != 0) kept.emplace(type_, tile.columns / kKeptColumns, pairs);
  entry->second = steps_.vertex([&](program::Program& sample) {
    const auto add = [&](std::uint64_t bytes, std::span<const std::byte> contents = {}) {
      program::Buffer buffer{};
      buffer.bytes = bytes;
      buffer.align = kSlotAlign;
      buffer.name = "sample";
      buffer.contents = [contents](std::span<std::byte> into) {
        std::ranges::fill(into, std::byte{});
        std::ranges::copy(contents, into.begin());
      };
      return program::Place{sample.add_buffer(std::move(buffer))};
    };
    const CoreProduct product{
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
        kept ? std::optional(kept->lists) : std::nullopt};
    return product.vertex(0, add_product_code(sample, type_, kept.has_value()));
  });
  return entry->second;
}

/// A tile of so many pairs in all its patches, of what tiles of two and four each take.
std::uint64_t ArrayPricer::kept_call(const ArrayGrid& grid, Begins begins, Ends ends,
                                     std::uint64_t pairs) {
  const CoreTile tile = grid.plan.tile();
  const std::uint64_t two = call(tile, begins, ends, 2);
  const std::uint64_t more = call(tile, begins, ends, 4) - two;
  const std::uint64_t unit = std::uint64_t{2} * grid.kept->patches();
  return two + more * pairs / unit - more;
}

/// Of a block on average: in each step that of the column of cores whose tile is the fullest.
std::uint64_t ArrayPricer::kept_compute(const ArrayGrid& grid) {
  const Begins between = grid.plan.whole_sums ? Begins::sums : Begins::results;
  const Ends before = grid.plan.whole_sums ? Ends::sums : Ends::results;
  std::uint64_t sum = 0;
  for (std::uint32_t block = 0; block < grid.column_blocks; ++block)
    for (std::uint32_t step = 0; step < grid.steps; ++step) {
      std::uint32_t most = 0;
      for (std::uint32_t column = 0; column < grid.plan.array_columns; ++column)
        most = std::max(most, grid.kept->pairs(block * grid.plan.array_columns + column, step));
      sum += kept_call(grid, step == 0 ? Begins::zeros : between,
                       step + 1 == grid.steps ? Ends::results : before, most);
    }
  return ceil_div(sum, std::uint64_t{grid.column_blocks});
}

/// All calls for a tile of C, with what starts transfers and waits for them.
std::uint64_t ArrayPricer::compute(const ArrayGrid& grid) {
  const CoreTile tile = grid.plan.tile();
  const Begins between = grid.plan.whole_sums ? Begins::sums : Begins::results;
  const Ends before = grid.plan.whole_sums ? Ends::sums : Ends::results;
  const std::uint64_t control = 2 * steps_.transfer_cycles();
  if (grid.kept) return kept_compute(grid) + (grid.steps + 1) * control;
  if (grid.steps == 1) return call(tile, Begins::zeros, Ends::results) + 2 * control;
  return call(tile, Begins::zeros, before) + (grid.steps - 2) * call(tile, between, before) +
         call(tile, between, Ends::results) + grid.steps * control + control;
}

/// Steps take what the busiest of cores, streams and nodes that start and wait for transfers does.
/// DDR goes on to the second step of a block when the block two before is stored: what that takes
/// from its last load on goes into as many steps and two.
PricedArray ArrayPricer::price(const ArrayGrid& grid) {
  const ArrayPlan& plan = grid.plan;
  const CoreTile tile = plan.tile();
  const std::uint64_t steps = grid.steps;
  const std::uint64_t control =
      ceil_div(steps_.transfer_cycles(), std::uint64_t{2});  // a start, or a wait
  const std::uint64_t rows_a_tile = ceil_div(plan.array_rows, array_.columns);
  const std::uint64_t a = stream(arrays::kLoadWeights, rows_a_tile * tile.a_bytes(type_));
  const std::uint64_t b = stream(arrays::kLoad, grid.b_tile_bytes());
  const std::uint64_t a_sent = rows_a_tile * stream(arrays::kWeights, tile.a_bytes(type_));
  const std::uint64_t b_sent = stream(arrays::kActivations, grid.b_tile_bytes());
  const std::uint32_t ports =
      machine_.fabric.streams[*stream_number(machine_, arrays::kResults)].receive_ports;
  const std::uint64_t turns = ports == 0 ? 1 : ceil_div(plan.array_rows, ports);
  const std::uint64_t results = turns * stream(arrays::kResults, tile.c_bytes(type_));
  const std::uint64_t store =
      stream(arrays::kStore, std::uint64_t{plan.array_rows} * tile.c_bytes(type_));
  const std::uint64_t computed = compute(grid);
  const std::uint64_t chains = plan.array_rows + plan.array_columns;
  const std::uint64_t in_ddr =
      steps * 2 * chains * control + std::uint64_t{2} * plan.array_columns * control;
  const std::uint64_t moving = steps * (std::max({a, b, a_sent, b_sent}) + 3 * control);
  const std::uint64_t out = std::max(a_sent, b_sent) + computed / steps + results + store;
  const std::uint64_t way = std::max(a, b) + out + (9 + plan.array_columns + 2 * chains) * control;
  const std::uint64_t moved =
      std::max({moving, in_ddr, store + 2 * control, steps * way / (steps + 2)});
  const std::uint64_t blocks = std::uint64_t{grid.row_blocks} * grid.column_blocks;
  const bool computes = computed >= moved;
  const std::uint64_t fill = computes ? std::max(a + a_sent, b + b_sent) + results + store : out;
  Prediction prediction;
  prediction.compute_cycles = blocks * computed;
  prediction.cycles =
      blocks * std::max(computed, moved) + ceil_div(grid.row_blocks, plan.list_rows) * fill;
  prediction.exchange_cycles = prediction.cycles - prediction.compute_cycles;
  return {plan, prediction, computes ? "compute" : "DDR"};
}

}  // namespace tessera::gemm
