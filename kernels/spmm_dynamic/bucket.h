#pragma once

#include <cstdint>
#include <vector>

#include "kernels/sparse/operand/block_matrix.h"
#include "kernels/spmm_dynamic/shape.h"

/// Buckets: the fixed capacity for nonzeros on every tile. The buckets of the z tiles of a
/// partition (x, y) form one pool. The host packs each partition's block rows into its own pool;
/// those that do not fit spill into the pools of the next partitions that pass when pools travel
/// (first along y, then along x). Source: papers.md 1a, DYNAMIC.
///
/// A pool begins with u16 words: sub-groups left, home x, home y, 0, sub-groups left for each part
/// of the rows; then the sub-groups, terminated by two zeros. A sub-group: id of its partition (1 +
/// x + y * parts of x; 0xffff when done), words to the next one, byte offset of its values (low,
/// high half); then its number of block rows or, for each worker, 5 words (see
/// codelets_pools.S); then its block rows (see the codelets).
namespace tessera::spmm_dynamic {

constexpr std::uint32_t kPoolHeadWords = 4;  ///< without the counts for each part of the rows
constexpr std::uint32_t kPoolEndWords = 2;
constexpr std::uint32_t kGroupWords = 4;   ///< at the head of a sub-group
constexpr std::uint32_t kWorkerWords = 5;  ///< per worker at the head
constexpr std::uint32_t kMostPartitions = 65534;

/// Capacity of a pool, and parameters of its lists.
struct PoolShape {
  Shape shape;
  Grid grid;
  std::uint32_t contexts;    ///< worker contexts of a tile
  std::uint32_t units;       ///< capacity for values
  std::uint32_t meta_words;  ///< capacity for lists, in u16
  /// A worker's time per row in addition to its units, in units, if workers share rows.
  double row_units = 0;

  [[nodiscard]] std::uint32_t group_head_words() const {
    return kGroupWords + (!shape.in_blocks() ? kWorkerWords * contexts : 1);
  }
  [[nodiscard]] std::uint32_t pool_head_words() const { return kPoolHeadWords + grid.x; }
  /// Passes of a row that workers may share: of columns; for gradients of values the rows of a
  /// block.
  [[nodiscard]] std::uint32_t passes() const {
    return shape.gradient ? shape.block : grid.columns * shape.bytes() / kPassBytes;
  }
};

/// Blocks [begin, end) of a block row, all of one partition.
struct RowPart {
  std::uint32_t row;
  std::uint64_t begin;
  std::uint64_t end;
};

struct SubGroup {
  std::uint32_t partition;  ///< its partition
  std::vector<RowPart> rows;
  std::uint32_t meta_words = 0;
  std::uint32_t units = 0;
};

struct Pool {
  std::vector<SubGroup> groups;
  std::uint32_t meta_words = 0;  ///< used
  std::uint32_t units = 0;       ///< used
};

/// Blocks of a tile, and the number of block rows that hold them.
struct Portion {
  double blocks = 0;
  double rows = 0;
  /// The same if all workers had as much work as the busiest one, if they share rows; 0: not known.
  struct {
    double rows = 0;
    double units = 0;
  } busiest = {};

  Portion& operator+=(const Portion& other) {
    blocks += other.blocks;
    rows += other.rows;
    busiest.rows += other.busiest.rows;
    busiest.units += other.busiest.units;
    return *this;
  }
  [[nodiscard]] Portion over(double parts) const {
    return {blocks / parts, rows / parts, {busiest.rows / parts, busiest.units / parts}};
  }
};

/// Work of the tiles of a grid for a pattern or an expected one.
struct Load {
  Portion own;                ///< the most that a partition computes from its own pool
  Portion steps;              ///< computed after steps: sum of the most of a tile in each
  std::uint32_t y_steps = 0;  ///< steps of the pools along y
  std::uint32_t x_steps = 0;

  Load& operator+=(const Load& other) {
    own += other.own;
    steps += other.steps;
    y_steps += other.y_steps;
    x_steps += other.x_steps;
    return *this;
  }
  /// Mean over `loads` loads; steps come in pairs.
  [[nodiscard]] Load over(std::uint32_t loads) const {
    return {own.over(loads), steps.over(loads), round_up(ceil_div(y_steps, loads), 2U),
            round_up(ceil_div(x_steps, loads), 2U)};
  }
};

/// The host's packing, and the resulting work on the tiles.
struct Packing {
  std::vector<Pool> pools;  ///< by partition (Grid::partition)
  std::uint64_t blocks = 0;
  std::uint64_t spilled_blocks = 0;
  std::uint64_t most_blocks = 0;  ///< the most blocks of one partition
  Load load;
};

/// Division of a sub-group without matrix-unit blocks among a tile's workers: by rows, or by rows
/// and passes if there are few rows.
struct WorkerParts {
  std::vector<std::size_t> cuts;  ///< the first row of each part, and the end
  std::uint32_t pass_parts;       ///< parts of the passes, for each part of the rows

  [[nodiscard]] std::size_t row_parts() const { return cuts.size() - 1; }
};
WorkerParts worker_parts(const PoolShape& shape, const SubGroup& group);

/// Work of a sub-group, with its busiest worker.
Portion portion_of(const PoolShape& shape, const SubGroup& group);

/// Units of a row's values, rounded up.
std::uint32_t units_of(const PoolShape& shape, const RowPart& row);

/// Packs `w` into the pools. Throws UserError with the numbers if they do not fit.
Packing pack(const sparse::BlockMatrix& w, const PoolShape& shape);

/// A sub-group that is computed after a number of steps of the pools.
struct Visit {
  const SubGroup* group;  ///< in its pool
  std::uint32_t home;     ///< the partition whose pool that is
  std::uint32_t step;
};

/// The tiles' work until all sub-groups are computed.
struct TravelWork {
  Load load;
  std::vector<std::vector<Visit>> visits;  ///< by partition, in order
};
TravelWork travel(const PoolShape& shape, const std::vector<Pool>& pools);

/// A pool's lists as `meta_words` words, padded with zeros.
std::vector<std::uint16_t> pool_lists(const sparse::BlockMatrix& w, const PoolShape& shape,
                                      const Packing& packing, std::uint32_t partition);

/// Calls visit(unit, block) for every block of a pool, in order; both blocks of a pair have the
/// same unit.
template <class Visit>
void for_each_unit(const PoolShape& shape, const Pool& pool, const Visit& visit) {
  std::uint32_t unit = 0;
  const std::uint32_t pair = unit_blocks(shape.shape);
  for (const SubGroup& group : pool.groups) {
    for (const RowPart& part : group.rows) {
      for (std::uint64_t e = part.begin; e < part.end; ++e)
        visit(unit + static_cast<std::uint32_t>((e - part.begin) / pair), e);
      unit += static_cast<std::uint32_t>(ceil_div<std::uint64_t>(part.end - part.begin, pair));
    }
  }
}

}  // namespace tessera::spmm_dynamic
