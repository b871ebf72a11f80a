#include "kernels/spmm_static/cost.h"

#include <algorithm>
#include <map>

#include "kernels/spmm_static/block_code.h"
#include "kernels/spmm_static/element_work.h"
#include "kernels/spmm_static/work_list.h"
#include "sim/machine/code_cost.h"

namespace tessera::spmm_static {

using sparse::Direction;

namespace {

// Supervisor instructions around a vertex of all workers, and around a superstep's exchange.
constexpr std::uint64_t kCallInstructions = 6;
constexpr std::uint64_t kExchangeInstructions = 6;
constexpr std::uint64_t kControlBytes = 4096;  // code, stacks, argument blocks
// Of a descriptor list: send and receive entries.
constexpr std::uint64_t kSendBytes = 12;
constexpr std::uint64_t kReceiveBytes = 16;

/// Bytes of a tile at one time.
struct Need {
  std::uint64_t tensors;
  std::uint64_t lists;  ///< of the exchange

  friend bool operator<(const Need& a, const Need& b) {
    return a.tensors + a.lists < b.tensors + b.lists;
  }
};

std::uint64_t rate_of(const FabricConfig& fabric) {
  return std::min(fabric.receive_bytes_per_cycle, fabric.send_bytes_per_cycle);
}

/// Positions of worker `w` of the columns of a tile.
std::uint64_t positions_of(const Shape& shape, std::uint32_t width, std::uint32_t workers,
                           std::uint32_t w) {
  return sparse::EvenSplit{width / shape.unroll(), workers}.part(w).size() * shape.unroll();
}

/// Bytes that come into tiles, by tile, and what both tiles of a pair take.
struct Arrivals {
  std::vector<std::uint64_t> own;
  std::vector<std::uint64_t> shared;  ///< by pair

  explicit Arrivals(std::uint32_t tiles) : own(tiles, 0), shared(tiles / 2 + 1, 0) {}

  /// Cycles until all have arrived, each pair at two ports.
  [[nodiscard]] std::uint64_t cycles(const FabricConfig& fabric) const {
    std::uint64_t most = 0;
    for (std::size_t tile = 0; tile < own.size(); ++tile) {
      const std::uint64_t common = shared[tile / 2];
      const bool pair = fabric.pair_sharing && (tile ^ 1) < own.size();
      const std::uint64_t other = pair ? own[tile ^ 1] : 0;
      const std::uint64_t bytes =
          pair ? std::max({own[tile] - common, other - common,
                           ceil_div<std::uint64_t>(own[tile] + other - common, 2)})
               : own[tile];
      most = std::max(most, bytes);
    }
    return ceil_div(most, rate_of(fabric));
  }
};

std::uint64_t common_count(const std::vector<std::uint32_t>& a,
                           const std::vector<std::uint32_t>& b) {
  std::uint64_t count = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) ++count;
    const bool first = a[i] <= b[j];
    if (b[j] <= a[i]) ++j;
    if (first) ++i;
  }
  return count;
}

/// Dense rows and values into tiles.
Arrivals input_arrivals(const Partition& partition) {
  Arrivals arrivals(partition.tiles);
  for (const Part& part : partition.parts) {
    const Layer& layer = partition.layer(part);
    for (std::size_t s = 0; s < layer.shares.size(); ++s) {
      const Share& share = layer.shares[s];
      const std::uint32_t tile = part.first_tile + share.place;
      arrivals.own[tile] += partition.x_bytes(part, share);
      if (partition.shares_values()) arrivals.own[tile] += partition.value_bytes(share);
      if (s == 0 || tile % 2 == 0 || layer.shares[s - 1].place + 1 != share.place) continue;
      arrivals.shared[tile / 2] = common_count(share.columns, layer.shares[s - 1].columns) *
                                  partition.shape.block * part.width() * partition.shape.bytes();
    }
  }
  return arrivals;
}

/// The longest computing of any tile.
std::uint64_t multiply_cycles(const Partition& partition, const TileConfig& tile) {
  std::uint64_t most = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> done;  // layer and width
  for (const Part& part : partition.parts) {
    if (!done.try_emplace({part.layer, part.width()}, true).second) continue;
    for (const Share& share : partition.layer(part).shares) {
      const std::uint64_t cycles = partition.shape.block == 1
                                       ? element_cycles(partition.shape, tile, share, part.width())
                                       : block_cycles(partition.shape, tile, share.rows.size(),
                                                      share.blocks(), part.width());
      most = std::max(most, cycles);
    }
  }
  return most;
}

std::uint64_t partial_cycles(const Partition& partition, const Reduction& reduction,
                             const FabricConfig& fabric) {
  std::vector<std::uint64_t> bytes(partition.tiles, 0);
  for (const Destination& to : reduction.destinations()) {
    bytes[to.tile] += reduction.direct() ? to.elements * partition.shape.bytes() : to.received;
  }
  std::uint64_t most = *std::max_element(bytes.begin(), bytes.end());
  for (const Part& part : partition.parts) {
    for (const Share& share : partition.layer(part).shares) {
      most = std::max(most, share.rows.size() * partition.row_bytes(part));
    }
  }
  return ceil_div(most, rate_of(fabric));
}

std::uint64_t reduce_cycles(const Partition& partition, const Reduction& reduction,
                            const TileConfig& tile) {
  const CodeCost code(tile);
  std::vector<std::uint64_t> cycles(partition.tiles, 0);
  for (const Destination& to : reduction.destinations()) {
    const std::vector<ReducingWorker> workers = reduction.workers(to, tile.contexts);
    cycles[to.tile] += code.plain(kCallInstructions) + code.run([&](std::uint32_t w) {
      if (workers[w].parts.empty()) return kReduceIdleSlots;
      std::uint64_t slots = kReduceSlots;
      for (const SegmentPart& part : workers[w].parts) {
        slots += kSegmentSlots + part.chunks * chunk_slots(partition.shape, part.sources) +
                 part.units * word_slots(partition.shape, part.sources);
      }
      return slots;
    });
  }
  return *std::max_element(cycles.begin(), cycles.end());
}

/// Sums to where they are wanted, if they are made elsewhere.
void add_sums_sent(const Partition& partition, const Reduction& reduction,
                   const MachineConfig& machine, Prediction& p) {
  if (!reduction.spreads()) return;
  std::vector<std::uint64_t> elements(partition.tiles, 0);
  for (const Destination& to : reduction.destinations()) {
    if (!to.home) elements[to.tile] += to.elements;
  }
  const std::uint64_t most =
      *std::max_element(elements.begin(), elements.end()) * partition.shape.bytes();
  p.exchange_cycles +=
      machine.fabric.fixed_cycles +
      ceil_div(std::max(most, partition.y_storage().each()), rate_of(machine.fabric));
  p.compute_cycles += CodeCost(machine.tile).plain(kExchangeInstructions);
  p.sync_cycles += machine.sync.chip_cycles;
}

/// Rows to blocks or back, of what the first tile holds, and its way there.
void add_relayout(const Partition& partition, const MachineConfig& machine, Direction direction,
                  Prediction& p) {
  const bool x = direction == Direction::to_blocks;
  const Shape& shape = partition.shape;
  const CodeCost code(machine.tile);
  const EvenStorage storage = x ? partition.x_storage() : partition.y_storage();
  const auto workers =
      sparse::transpositions(partition.chunks(storage, x ? shape.x_depth() : shape.block, 0),
                             shape.bytes(), direction, machine.tile.contexts);
  p.compute_cycles +=
      code.plain(kCallInstructions + kExchangeInstructions) + code.run([&](std::uint32_t w) {
        return sparse::transposing_slots(workers[w], shape.bytes());
      });
  p.exchange_cycles +=
      machine.fabric.fixed_cycles + ceil_div(storage.each(), rate_of(machine.fabric));
  p.sync_cycles += std::uint64_t{x ? 1U : 2U} * machine.sync.chip_cycles;
}

}  // namespace

std::uint64_t block_cycles(const Shape& shape, const TileConfig& tile, std::uint64_t rows,
                           std::uint64_t blocks, std::uint32_t width) {
  const CodeCost code(tile);
  const sparse::BlockRun unit = shape.run();
  const std::uint32_t slots = gemm::unit_slots(tile.matrix_unit, shape.unit());
  const auto run = [&](bool accumulates) {
    return unit.weight_rows * code.load_weights(std::uint64_t{unit.weight_words} * 8) +
           code.run([&](std::uint32_t w) {
             return block_run_slots(shape, slots, accumulates,
                                    positions_of(shape, width, tile.contexts, w));
           });
  };
  const std::uint64_t first = run(false);
  const std::uint64_t next = run(true);
  std::uint64_t cycles = code.plain(kBlockCallInstructions) + code.branch() +
                         code.run_even(kBlockSetUpSlots) + rows * first + (blocks - rows) * next +
                         code.plain(blocks);
  if (shape.halves_outputs()) cycles += rows * first + (blocks - rows) * next;
  if (shape.halves_inputs()) cycles += blocks * next;
  return cycles;
}

std::uint64_t element_cycles(const Shape& shape, const TileConfig& tile, const Share& share,
                             std::uint32_t width) {
  const CodeCost code(tile);
  const std::uint32_t words = width * shape.bytes() / 8;
  std::uint64_t cycles = 0;
  const auto add = [&](std::uint32_t pass_words, std::uint32_t passes) {
    if (passes == 0) return;
    const auto workers = divide(share, element_code(shape, pass_words), passes, tile.contexts);
    cycles +=
        code.plain(kCallInstructions) + code.run([&](std::uint32_t w) { return workers[w].slots; });
  };
  add(2, words / 2);
  add(1, words % 2);
  return cycles;
}

Prediction predict(const Partition& partition, const MachineConfig& machine) {
  const Reduction reduction(partition);
  const CodeCost code(machine.tile);
  Prediction p;
  if (partition.deal.blocks() > 0) {
    p.exchange_cycles = std::uint64_t{2} * machine.fabric.fixed_cycles +
                        input_arrivals(partition).cycles(machine.fabric) +
                        partial_cycles(partition, reduction, machine.fabric);
    p.compute_cycles =
        multiply_cycles(partition, machine.tile) + code.plain(2 * kExchangeInstructions);
    p.sync_cycles = machine.sync.chip_cycles;
  }
  if (!reduction.direct()) p.compute_cycles += reduce_cycles(partition, reduction, machine.tile);
  add_sums_sent(partition, reduction, machine, p);
  if (partition.relayouts() && partition.deal.blocks() > 0) {
    add_relayout(partition, machine, Direction::to_blocks, p);
    add_relayout(partition, machine, Direction::to_rows, p);
  }
  p.sync_cycles += machine.sync.chip_cycles;
  p.cycles = p.compute_cycles + p.exchange_cycles + p.sync_cycles;
  return p;
}

program::CategoryBytes tile_memory(const Partition& partition) {
  const Shape& shape = partition.shape;
  const Reduction reduction(partition);
  const std::uint64_t y = partition.y_storage().each();
  std::uint64_t given = partition.x_storage().each();
  if (partition.shares_values()) given += partition.value_storage().each();
  Need most{partition.relayouts() ? 2 * std::max(given, y) : 0, 0};
  for (const Destination& to : reduction.destinations()) {
    const std::uint64_t segments = to.segments.size();
    const std::uint64_t sums = to.home ? 0 : to.elements * shape.bytes();
    const std::uint64_t zeros = reduction.direct() ? longest_empty(to) * shape.bytes() : 0;
    most = std::max(most, {to.received + sums + zeros + y + segments * kSegmentBytes,
                           segments * kReceiveBytes});
  }
  for (const Part& part : partition.parts) {
    for (const Share& share : partition.layer(part).shares) {
      const std::uint64_t held = partition.x_bytes(part, share) + partition.value_bytes(share) +
                                 2 * (share.rows.size() + share.blocks());
      const std::uint64_t q = share.rows.size() * partition.row_bytes(part);
      most = std::max(most, {held + std::max(given, q), kReceiveBytes * share.columns.size() +
                                                            kSendBytes * share.rows.size()});
    }
  }
  program::CategoryBytes memory{};
  memory[static_cast<std::size_t>(program::Category::code)] = kControlBytes;
  memory[static_cast<std::size_t>(program::Category::tensors)] = most.tensors;
  memory[static_cast<std::size_t>(program::Category::exchange)] = most.lists;
  return memory;
}

}  // namespace tessera::spmm_static
