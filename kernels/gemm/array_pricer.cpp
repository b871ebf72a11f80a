#include <algorithm>

#include "kernels/gemm/array_plan.h"
#include "kernels/gemm/array_timeline.h"
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

/// A node's control code for so many transfers, each started and waited for.
std::uint64_t list_cycles(MachineCosts& costs, std::uint32_t transfers) {
  constexpr std::uint32_t kBytes = 4;
  program::Program sample(1);
  const program::BufferId words =
      sample.add_buffer({TileId{0}, std::uint64_t{2} * kBytes, kBytes, true, {}, {}, "words"});
  for (std::uint32_t i = 0; i < transfers; ++i) {
    const program::ExchangeId exchange =
        sample.add_exchange({"exchange", {{{words}, kBytes, {{words, kBytes}}}}});
    sample.main().steps.push_back({program::Start{exchange}});
    sample.main().steps.push_back({program::Wait{exchange}});
  }
  return costs.tile(sample).compute_cycles;
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
      array_(array_of(machine_, type)),
      transfer_cycles_(list_cycles(costs, 2) - list_cycles(costs, 1)) {}

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

StreamTime ArrayPricer::stream(const char* name, std::uint64_t bytes) const {
  const StreamConfig& stream = machine_.fabric.streams[*stream_number(machine_, name)];
  return {stream_cycles(stream, bytes), stream.send_ports, stream.receive_ports};
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

std::vector<std::uint64_t> ArrayPricer::calls(const ArrayGrid& grid) {
  if (grid.kept) return std::vector(3, ceil_div(kept_compute(grid), std::uint64_t{grid.steps}));
  const CoreTile tile = grid.plan.tile();
  const Begins between = grid.plan.whole_sums ? Begins::sums : Begins::results;
  const Ends before = grid.plan.whole_sums ? Ends::sums : Ends::results;
  if (grid.steps == 1) return std::vector(3, call(tile, Begins::zeros, Ends::results));
  return {call(tile, Begins::zeros, before), call(tile, between, before),
          call(tile, between, Ends::results)};
}

ArrayTimes ArrayPricer::times(const ArrayGrid& grid) {
  const CoreTile tile = grid.plan.tile();
  const std::uint64_t c_bytes = tile.c_bytes(type_);
  return {stream(arrays::kLoadWeights, tile.a_bytes(type_)),
          stream(arrays::kLoad, grid.b_tile_bytes()),
          stream(arrays::kWeights, tile.a_bytes(type_)),
          stream(arrays::kActivations, grid.b_tile_bytes()),
          stream(arrays::kResults, c_bytes),
          stream(arrays::kStore, grid.plan.array_rows * c_bytes),
          machine_.fabric.fixed_cycles,
          transfer_cycles_ - transfer_cycles_ / 3,
          transfer_cycles_ / 3,
          calls(grid)};
}

std::optional<PricedArray> ArrayPricer::price(const ArrayGrid& grid, std::uint64_t below) {
  const ArrayTimes times = this->times(grid);
  const std::uint64_t steps = grid.steps;
  const std::uint64_t rows = grid.plan.array_rows;
  const std::uint64_t rows_a_tile = ceil_div(rows, std::uint64_t{array_.columns});
  const std::uint64_t control = times.start + times.wait;
  std::uint64_t computed = 2 * (steps + 1) * control + times.calls.front();
  if (steps > 1) computed += (steps - 2) * times.calls[1] + times.calls.back();
  const auto turns = [](std::uint64_t streams, std::uint32_t ports) {
    return ports == 0 ? 1 : ceil_div(streams, std::uint64_t{ports});
  };
  const std::uint64_t moved =
      std::max({steps * turns(rows_a_tile, times.load_a.receive_ports) * times.load_a.cycles,
                steps * turns(rows_a_tile, times.send_a.send_ports) * times.send_a.cycles,
                steps * times.load_b.cycles, steps * times.send_b.cycles,
                turns(rows, times.results.receive_ports) * times.results.cycles, times.store.cycles,
                control * (steps * (rows + grid.plan.array_columns) + grid.plan.array_columns)});
  const std::uint64_t blocks = std::uint64_t{grid.row_blocks} * grid.column_blocks;
  if (blocks * std::max(computed, moved) >= below) return std::nullopt;
  Prediction prediction;
  prediction.compute_cycles = blocks * computed;
  prediction.cycles = std::max(timeline_cycles(grid, array_, times), prediction.compute_cycles);
  prediction.exchange_cycles = prediction.cycles - prediction.compute_cycles;
  if (prediction.cycles >= below) return std::nullopt;
  return PricedArray{grid.plan, prediction, computed >= moved ? "compute" : "DDR"};
}

}  // namespace tessera::gemm
