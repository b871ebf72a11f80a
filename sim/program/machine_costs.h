#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim/machine/machine_config.h"
#include "sim/program/image.h"
#include "sim/program/transfer_list.h"

/// Interface through which planners get the costs of their plans from a machine, instead of
/// counting instructions or knowing rates. Implemented in models/costs.
namespace tessera {

/// A tile's work between barriers.
struct TileCost {
  std::uint64_t compute_cycles = 0;  ///< from each release to the next arrival, exchanges left out
  std::uint64_t supersteps = 0;
  std::uint64_t set_up_cycles = 0;  ///< before its first barrier
  bool operator==(const TileCost&) const = default;
};

/// The load of an exchange on its busiest tile, for planners that compare many plans.
struct ExchangeLoad {
  std::uint64_t sent = 0;      ///< bytes it sends, each once for any number of receivers
  std::uint64_t received = 0;  ///< bytes that only it receives, not its pair's other tile
  std::uint64_t shared = 0;    ///< bytes that both tiles of its pair receive
  std::uint32_t tiles = 1;     ///< bytes travel among tiles 0 to this - 1
  /// Longest travel time to this tile and its pair's other tile; none: the longest among `tiles`.
  std::optional<std::uint64_t> way_cycles = {};
};

/// A tile's traffic with external memory in one transfer: entries of one turn, with its `address`;
/// `steps` are not read.
struct OuterLoad {
  TileId tile;
  std::vector<program::OuterEntry> entries;
};

/// The sequence of each tile's starts of external-memory transfers, waits for them, and work
/// between; tiles are independent.
struct OuterScript {
  struct Transfer {
    program::Turns turns;          ///< data moved by each start
    std::vector<OuterLoad> loads;  ///< entries in turn 0, with their steps
  };
  struct Step {
    enum class Kind : std::uint8_t { start, wait, work };
    Kind kind;
    std::uint32_t transfer = 0;
    std::uint64_t cycles = 0;  ///< work on the slowest tile
    bool together = false;     ///< begins when all tiles have reached it
    std::uint32_t early = 0;   ///< index in `early`: tiles' ends of the work
  };
  /// Cycles by which each tile ends some work before the slowest tile; empty: all end together.
  using Early = std::vector<std::uint64_t>;
  std::vector<Early> early = {{}};
  std::uint64_t begin = 0;  ///< start cycle of all tiles; memory refreshes from cycle 0 on
  std::vector<Transfer> transfers;
  std::vector<Step> steps;
};

/// Answers depend only on the machine and the query, not on earlier queries. Not thread-safe.
class MachineCosts {
 public:
  virtual ~MachineCosts() = default;
  /// The machine as planners see it: values that only a run can judge (latencies, intervals, slots,
  /// issue, the supervisor's costs, widths of loads and stores, clock, host, energy) have their
  /// defaults.
  [[nodiscard]] virtual const MachineConfig& machine() const = 0;

  /// Costs of programs that start only `workers` of each tile's contexts. Null where that gains
  /// nothing because idle contexts keep their issue slots.
  [[nodiscard]] virtual std::unique_ptr<MachineCosts> with_workers(
      std::uint32_t /*workers*/) const {
    return nullptr;
  }

  /// True if a tile's workers compete for issue slots: a loop's cycles then need not be linear in
  /// its iterations, even for many.
  [[nodiscard]] virtual bool workers_compete() const { return false; }

  /// Costs of programs on only `tiles` of the machine's tiles; 0: all.
  [[nodiscard]] virtual std::unique_ptr<MachineCosts> with_tiles(std::uint32_t tiles) const = 0;

  /// Work of the tile of `sample`, a program of one tile, in the measured steps: its code is run,
  /// supervisor and workers, with sufficient SRAM. Buffers hold their contents, or zeros; exchanges
  /// (of the tile with itself) move nothing and take no time beyond their instructions. Throws
  /// UserError for a tile fault.
  [[nodiscard]] virtual TileCost tile(const program::Program& sample) = 0;

  /// Lower bound on the cycles of an exchange in which no tile exceeds `load`; the fabric's
  /// schedule is seldom more than a few percent above it.
  [[nodiscard]] virtual std::uint64_t exchange(const ExchangeLoad& load) const = 0;

  /// Travel time in cycles from one tile to another.
  [[nodiscard]] virtual std::uint64_t way(TileId /*from*/, TileId /*to*/) const { return 0; }

  /// Cycles until the last of these transfers (at most one per tile) is done, if all start together
  /// and nothing else moves. `closely`: as in a run, except for very many requests; else
  /// extrapolates from a short part of them. 0 without external memory.
  [[nodiscard]] virtual std::uint64_t outside(std::span<const OuterLoad> /*loads*/,
                                              bool /*closely*/) {
    return 0;
  }

  /// Cycles from a script's begin until the last tile ends it, as in a run; nothing without
  /// external memory.
  [[nodiscard]] virtual std::optional<std::uint64_t> script(const OuterScript& /*script*/) {
    return std::nullopt;
  }

  /// Resource usage of `program` as the machine would run it, for the few best plans by estimate:
  /// exact makespans of its exchanges (each takes exchange({}) more), and memory. Throws UserError
  /// if it does not fit.
  [[nodiscard]] program::ResourceUsage resource_usage(const program::Program& program) const {
    return *watched_usage(program, {});
  }
  /// As resource_usage(); nothing if `watch`, which is called only for uncached exchanges, stops
  /// it.
  [[nodiscard]] virtual std::optional<program::ResourceUsage> watched_usage(
      const program::Program& program, const program::Watch& watch) const = 0;

  /// True if the best plans' exchanges are scheduled; false if a quick choice matters more than the
  /// best plan.
  [[nodiscard]] virtual bool schedules() const { return true; }

  /// Cycles from the last arrival at a barrier to its release.
  [[nodiscard]] virtual std::uint64_t barrier() const = 0;
};

}  // namespace tessera
