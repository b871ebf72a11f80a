#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "kernels/convnet/calls.h"
#include "kernels/convnet/mapping.h"
#include "kernels/convnet/patches.h"
#include "sim/plan/fitted_cost.h"
#include "sim/plan/step_costs.h"

/// Cycles of a core's calls, measured on the machine's tile.
namespace tessera::convnet {

class CallCosts {
 public:
  CallCosts(MachineCosts& costs, const VectorType& type) : steps_(costs), type_(&type) {}

  /// Cycles of all calls of the core that takes longest in a layer.
  [[nodiscard]] std::uint64_t layer(const LayerShape& shape);
  // Cycles of one call in the lists of a layer; `again`: after a similar call.
  [[nodiscard]] std::uint64_t of(const Prepare& call);
  [[nodiscard]] std::uint64_t of(const Convolve& call, bool again);
  [[nodiscard]] std::uint64_t of(const PoolMax& call, const Grid& grid);
  /// Cycles of starting a transfer and waiting for it.
  [[nodiscard]] std::uint64_t transfer() const { return steps_.transfer_cycles(); }

 private:
  enum class Code : std::uint8_t { convolve, shared, pool_max };
  struct Kind {
    Code code = Code::convolve;
    bool begins_with_partials = false, ends_with_partials = false;
    auto operator<=>(const Kind&) const = default;
  };
  /// Outputs computed together: rows and columns of the flattened grid; whether all blocks use the
  /// same planes, and whether planes are contiguous.
  struct Tile {
    Kind kind;
    std::uint32_t rows, columns;
    bool same_planes;
    bool planes_follow;
    auto operator<=>(const Tile&) const = default;
  };
  /// Computation of one item of a mapping; most items are equal.
  struct WorkSize {
    Kind kind;
    std::uint32_t rows, blocks;
    bool adds;  ///< also adds the other operand to its results
    bool operator==(const WorkSize&) const = default;
  };
  struct Work {
    WorkSize size;
    std::uint32_t listed = 0, listed_sums = 0;  ///< blocks that `prepare` must list first
    std::uint64_t cycles = 0;
    std::uint64_t cycles_again = 0;  ///< after the same computation with these weights
  };
  [[nodiscard]] Work work(const LayerShape& shape, std::uint32_t column, const WorkSize& size);
  [[nodiscard]] std::uint64_t core(const LayerShape& shape, std::uint32_t row,
                                   std::uint32_t column);

  static Tile tile_of(Kind kind, const Grid& grid, bool same_planes);
  /// Grid of a tile's samples, with rows that are not contiguous.
  static Grid grid_of(const Tile& tile);
  /// Number of `blocks` output blocks that the tile's code computes at a time.
  [[nodiscard]] std::uint32_t blocks_at_once(const Tile& tile, std::uint32_t blocks);
  /// `again`: after a call that differs only in its input and output.
  [[nodiscard]] std::uint64_t compute(const Tile& tile, std::uint32_t blocks, std::uint32_t steps,
                                      bool again = false);
  /// Cycles of `rounds` rounds of `at_once` blocks.
  [[nodiscard]] std::uint64_t compute_rounds(const Tile& tile, std::uint32_t at_once, bool again,
                                             std::uint32_t rounds, std::uint32_t steps);
  /// `again`: measures a repeated call too.
  [[nodiscard]] std::uint64_t measured(const Tile& tile, std::uint32_t blocks, std::uint32_t steps,
                                       bool again) const;

  StepCosts steps_;
  const VectorType* type_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, PatchTable> tables_;  ///< by (rows, columns)
  std::map<std::tuple<Tile, std::uint32_t, bool>, FittedCost> computes_;  ///< by rounds and steps
  std::map<std::tuple<std::uint32_t, bool, bool>, FittedCost> prepares_;  ///< by blocks and planes
};

}  // namespace tessera::convnet
