#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim/machine/machine_config.h"
#include "sim/program/image.h"
#include "sim/program/transfer_list.h"

/// Interface through which planners ask a machine for the costs of their plans, instead of counting
/// instructions or knowing rates. Implemented in models/costs.
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
  std::uint64_t sent = 0;      ///< bytes that it sends, each once whatever the number of receivers
  std::uint64_t received = 0;  ///< bytes that it takes and the other tile of its pair does not
  std::uint64_t shared = 0;    ///< bytes that both tiles of its pair take
  std::uint32_t tiles = 1;     ///< bytes travel among tiles 0 to this - 1
  /// The longest way to this tile and to the other of its pair; none: the longest among `tiles`.
  std::optional<std::uint64_t> way_cycles = {};
};

/// A tile's traffic with memory outside in one transfer: entries of one turn, whose `address` is
/// that turn's and whose `steps` are not read.
struct OuterLoad {
  TileId tile;
  std::vector<program::OuterEntry> entries;
};

/// The actions of each tile with memory outside, each tile by itself: starts of transfers, waits
/// for them, and work between, one after the other.
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
    bool together = false;     ///< begins when all tiles have come to it
    std::uint32_t early = 0;   ///< index in `early`: when tiles end the work
  };
  /// How many cycles before the slowest each tile ends some work; none: all end together.
  using Early = std::vector<std::uint64_t>;
  std::vector<Early> early = {{}};
  std::uint64_t begin = 0;  ///< cycle in which all begin: memory refreshes from cycle 0 on
  std::vector<Transfer> transfers;
  std::vector<Step> steps;
};

/// Answers depend only on the machine and the question, not on earlier questions. For one thread at
/// a time.
class MachineCosts {
 public:
  virtual ~MachineCosts() = default;
  /// The machine as planners may know it: values that only a run can judge (latencies, intervals,
  /// slots, issue, the supervisor's costs, widths of loads and stores, clock, host, energy) have
  /// the defaults.
  [[nodiscard]] virtual const MachineConfig& machine() const = 0;

  /// Costs of programs that start only some of each tile's worker contexts. Null where nothing is
  /// gained: the others keep their issue slots.
  [[nodiscard]] virtual std::unique_ptr<MachineCosts> with_workers(
      std::uint32_t /*workers*/) const {
    return nullptr;
  }

  /// True if a tile's workers compete for issue slots: cycles of a loop then need not grow evenly
  /// with its iterations, however many they are.
  [[nodiscard]] virtual bool workers_compete() const { return false; }

  /// Costs of programs on `tiles` of the machine's tiles, in which the others have no part; 0: on
  /// all.
  [[nodiscard]] virtual std::unique_ptr<MachineCosts> with_tiles(std::uint32_t tiles) const = 0;

  /// Work of the tile of `sample`, a program of one tile, in the measured steps: its code is run,
  /// supervisor and workers, in as much SRAM as it takes. Buffers hold their contents, or zeros;
  /// exchanges (of the tile with itself) move nothing and take no time beyond their instructions.
  /// Throws UserError for a tile fault.
  [[nodiscard]] virtual TileCost tile(const program::Program& sample) = 0;

  /// Cycles of an exchange in which no tile has more to do than `load`: a bound that the fabric's
  /// schedule seldom misses by more than some percent.
  [[nodiscard]] virtual std::uint64_t exchange(const ExchangeLoad& load) const = 0;

  /// Cycles that bytes take from one tile to another.
  [[nodiscard]] virtual std::uint64_t way(TileId /*from*/, TileId /*to*/) const { return 0; }

  /// Cycles until the last of these transfers is done, at most one a tile, if all tiles start them
  /// together and nothing else moves. `closely`: as in a run, except for very many requests; else a
  /// short part of them stands for all. 0 for a machine without memory outside.
  [[nodiscard]] virtual std::uint64_t outside(std::span<const OuterLoad> /*loads*/,
                                              bool /*closely*/) {
    return 0;
  }

  /// Cycles from its begin until the last tile ends a script, as a run has it; nothing: the machine
  /// has no memory outside.
  [[nodiscard]] virtual std::optional<std::uint64_t> script(const OuterScript& /*script*/) {
    return std::nullopt;
  }

  /// Needs of `program` as the machine would run it, for the few plans that are best by estimate:
  /// exact makespans of its exchanges (which take exchange({}) more each), and memory. Throws
  /// UserError if it does not fit.
  [[nodiscard]] program::Needs needs(const program::Program& program) const {
    return *watched_needs(program, {});
  }
  /// As needs(); nothing if `watch`, which hears only exchanges that are not remembered, stops it.
  [[nodiscard]] virtual std::optional<program::Needs> watched_needs(
      const program::Program& program, const program::Watch& watch) const = 0;

  /// True if exchanges of the best plans are to be scheduled. False: a quick choice matters more
  /// than the best plan.
  [[nodiscard]] virtual bool schedules() const { return true; }

  /// Cycles from the last arrival at a barrier to its release.
  [[nodiscard]] virtual std::uint64_t barrier() const = 0;
};

}  // namespace tessera
