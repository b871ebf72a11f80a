#pragma once

#include <optional>

#include "kernels/spmm_dynamic/products.h"
#include "kernels/spmm_dynamic/program.h"
#include "sim/plan/search.h"

/// What grids cost on one machine, read from the program that they describe. What one has asked
/// serves the next.
namespace tessera::spmm_dynamic {

class Pricer {
 public:
  Pricer(const Shape& shape, MachineCosts& costs);

  [[nodiscard]] const MachineConfig& machine() const { return pricing_.machine(); }
  [[nodiscard]] plan::Pricing& pricing() { return pricing_; }

  /// A grid's pools; nothing where places in 16 bits do not reach everything.
  std::optional<PoolShape> pool(const Problem& problem, const Grid& grid);
  plan::Description describe(const Problem& problem, const PoolShape& pool, const Load& load,
                             std::uint64_t further_cycles = 0);
  /// Cycles of the fullest tile's products and of what it receives: no more than predict() says.
  std::uint64_t bound(const Problem& problem, const PoolShape& pool, const Load& load);
  /// Cycles of one run of this load.
  Prediction predict(const Problem& problem, const PoolShape& pool, const Load& load);
  /// Of a pattern: products of the tiles that have most to do are run.
  Prediction predict(const Problem& problem, const PoolShape& pool, const sparse::BlockMatrix& w,
                     const Packing& packing);
  /// Of all patterns, by their loads; nothing if the buckets have no room for one.
  std::optional<Prediction> predict(const Problem& problem, const PoolShape& pool,
                                    const std::vector<sparse::BlockMatrix>& patterns);
  /// Bytes of the fullest tile, placed.
  std::uint64_t bytes(const Problem& problem, const PoolShape& pool, const Load& load);

 private:
  [[nodiscard]] Decided decided(const PoolShape& pool, const Load& load);
  std::vector<Tile> fullest(const PoolShape& pool, const Packing& packing);

  sparse::TileCode code_;
  plan::Pricing pricing_;
  ProductTimes products_;
};

/// Grids of a problem, of which the best is searched.
class Plans {
 public:
  /// What a planner counts beside a product's own time and memory, by grid.
  struct Beside {
    std::function<std::uint64_t(const Grid&)> bound, cycles, bytes;
  };
  Plans(const Problem& problem, Pricer& pricer, Beside beside = {})
      : problem_(problem), pricer_(pricer), beside_(std::move(beside)) {}

  void add(const Grid& grid, const Load& expected);
  /// Nothing if none fits. With `patterns` so many of those that are expected to be best are judged
  /// by these.
  std::optional<Plan> best(const std::vector<sparse::BlockMatrix>* patterns = nullptr,
                           std::size_t judged = 1);

 private:
  struct Option {
    PoolShape pool;
    Load load;
    std::optional<std::uint64_t> further = {};  ///< cycles; absent: not asked yet
  };

  const Problem& problem_;
  Pricer& pricer_;
  Beside beside_;
  std::vector<Option> options_;
  std::vector<std::uint64_t> bounds_;
};

/// Calls visit(x, y, most z) for all parts of block rows and columns that tiles allow, or those
/// that are pinned.
void for_all_parts(
    const Problem& problem, const Pinned& pinned, std::uint32_t tiles,
    const std::function<void(std::uint32_t x, std::uint32_t y, std::uint32_t most_z)>& visit);

/// The grid with as many parts of the columns as there are tiles for, none empty.
Grid grid_of(const Problem& problem, std::uint32_t x, std::uint32_t y, std::uint32_t most_z);

/// A load of `most` blocks in the fullest partition, of which what its pool has no room for spills.
Load spilling_load(const Problem& problem, const Grid& grid, double most);

}  // namespace tessera::spmm_dynamic
