#pragma once

#include <map>
#include <vector>

#include "kernels/spmm_dynamic/plan.h"

namespace tessera::spmm_dynamic {

/// Blocks of the partitions of a grid, at least.
struct PartitionBlocks {
  std::uint32_t x, y;
  std::vector<std::uint32_t> blocks;  ///< of partition (x, y), by x
  double most;
  double rows;  ///< of a partition that hold some, about

  /// What tiles with such pools do at least: what a pool has no room for spills.
  [[nodiscard]] Load load(const PoolShape& pool) const;
};

/// Where the blocks of a pattern lie, for bounds over many grids: blocks in cells of block rows and
/// columns, and how long rows are.
class LoadMap {
 public:
  explicit LoadMap(const sparse::BlockMatrix& w);

  [[nodiscard]] PartitionBlocks partitions(std::uint32_t x, std::uint32_t y);

 private:
  [[nodiscard]] std::uint32_t before(std::uint64_t row, std::uint64_t column) const {
    return before_[row * (columns_ + 1) + column];
  }
  /// Block rows that have blocks in one of y parts of the columns, if blocks lie anywhere in rows.
  double rows_in(std::uint32_t y);

  std::uint64_t block_rows_, block_columns_;
  std::uint64_t rows_, columns_;                    ///< of cells
  std::vector<std::uint32_t> before_;               ///< blocks in cells above and left of a corner
  std::map<std::uint64_t, std::uint64_t> lengths_;  ///< rows of so many blocks
  std::map<std::uint32_t, double> rows_in_;         ///< by parts of the columns
};

}  // namespace tessera::spmm_dynamic
