#pragma once

#include <cstdint>
#include <vector>

#include "kernels/sparse/operand/block_matrix.h"
#include "kernels/spmm_dynamic/shape.h"

/// Buckets: the fixed room for nonzeros that every tile has. The buckets of the z tiles of a
/// partition (x, y) are used as one pool. The host packs each partition's block rows into its own
/// pool; what does not fit spills into the pools of the partitions that come by next when the pools
/// travel (first along y, then along x). Source: papers.md 1a, DYNAMIC.
///
/// A pool begins with u16 words: sub-groups left, home x, home y, 0, sub-groups left for each part
/// of the rows; then the sub-groups, ended by two zeros. A sub-group: id of the partition that it
/// is for (1 + x + y * parts of x; 0xffff when done), words to the next one, offset of its values
/// in bytes (low, high half); then either its block rows' number, or for each worker 5 words (see
/// codelets_elements.S); then its block rows (see the codelets).
namespace tessera::spmm_dynamic {

constexpr std::uint32_t kPoolHeadWords = 4;  ///< without the counts for each part of the rows
constexpr std::uint32_t kPoolEndWords = 2;
constexpr std::uint32_t kGroupWords = 4;   ///< at the head of a sub-group
constexpr std::uint32_t kWorkerWords = 5;  ///< for each worker, there
constexpr std::uint32_t kMostPartitions = 65534;

/// The room of a pool and what its lists say.
struct PoolShape {
  Shape shape;
  Grid grid;
  std::uint32_t contexts;    ///< worker contexts of a tile
  std::uint32_t units;       ///< room for values
  std::uint32_t meta_words;  ///< room for lists, u16
  /// A worker's time per row beside the row's units, in units, where workers share rows.
  double row_units = 0;

  [[nodiscard]] std::uint32_t group_head_words() const {
    return kGroupWords + (!shape.in_blocks() ? kWorkerWords * contexts : 1);
  }
  [[nodiscard]] std::uint32_t pool_head_words() const { return kPoolHeadWords + grid.x; }
  /// Passes of a row that workers may share: of columns; of gradients of values the rows of a
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
  std::uint32_t partition;  ///< that it is for
  std::vector<RowPart> rows;
  std::uint32_t meta_words = 0;
  std::uint32_t units = 0;
};

struct Pool {
  std::vector<SubGroup> groups;
  std::uint32_t meta_words = 0;  ///< used
  std::uint32_t units = 0;       ///< used
};

/// Blocks of a tile, in so many block rows.
struct Portion {
  double blocks = 0;
  double rows = 0;
  /// If all workers had as much to do as the busiest one, where they share rows; 0: not known.
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

/// The work that a pattern, or the expectation of one, gives the tiles of a grid.
struct Load {
  Portion own;                ///< the most that a partition computes from its own pool
  Portion steps;              ///< computed after steps: the most of a tile in each, added up
  std::uint32_t y_steps = 0;  ///< that the pools travel
  std::uint32_t x_steps = 0;

  Load& operator+=(const Load& other) {
    own += other.own;
    steps += other.steps;
    y_steps += other.y_steps;
    x_steps += other.x_steps;
    return *this;
  }
  /// On average over so many loads; steps go in pairs.
  [[nodiscard]] Load over(std::uint32_t loads) const {
    return {own.over(loads), steps.over(loads), round_up(ceil_div(y_steps, loads), 2U),
            round_up(ceil_div(x_steps, loads), 2U)};
  }
};

/// The host's packing, and the device's work for it.
struct Packing {
  std::vector<Pool> pools;  ///< by partition (Grid::partition)
  std::uint64_t blocks = 0;
  std::uint64_t spilled_blocks = 0;
  std::uint64_t most_blocks = 0;  ///< the most blocks of one partition
  Load load;
};

/// How the workers of a tile share a sub-group whose blocks do not go past a matrix unit: rows, or
/// rows and passes where there are few rows.
struct WorkerParts {
  std::vector<std::size_t> cuts;  ///< the first row of each part, and the end
  std::uint32_t pass_parts;       ///< parts of the passes, for each part of the rows

  [[nodiscard]] std::size_t row_parts() const { return cuts.size() - 1; }
};
WorkerParts worker_parts(const PoolShape& shape, const SubGroup& group);

/// The group as products see it, its busiest worker included.
Portion portion_of(const PoolShape& shape, const SubGroup& group);

/// Values of a row, with what makes it whole units.
std::uint32_t units_of(const PoolShape& shape, const RowPart& row);

/// Packs `w` into the pools. Throws UserError with the numbers if they are full.
Packing pack(const sparse::BlockMatrix& w, const PoolShape& shape);

/// A sub-group that is computed after so many steps of the pools.
struct Visit {
  const SubGroup* group;  ///< stands in its pool
  std::uint32_t home;     ///< the partition whose pool that is
  std::uint32_t step;
};

/// The tiles' work until nothing is left.
struct Travel {
  Load load;
  std::vector<std::vector<Visit>> visits;  ///< by partition, in order
};
Travel travel(const PoolShape& shape, const std::vector<Pool>& pools);

/// A pool's lists as `meta_words` words, zero behind what is used.
std::vector<std::uint16_t> pool_lists(const sparse::BlockMatrix& w, const PoolShape& shape,
                                      const Packing& packing, std::uint32_t partition);

/// Calls visit(unit, block) for every block of a pool, in order; a second block of a pair has the
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
