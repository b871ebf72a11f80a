#pragma once

#include <cstdint>
#include <vector>

#include "kernels/spmm_dynamic/bucket.h"

/// How one pattern loads the partitions of a grid, for a plan that is made for it.
namespace tessera::spmm_dynamic {

/// Counts of a pattern in cells of block rows and columns, for estimates over many grids.
class LoadMap {
 public:
  explicit LoadMap(const sparse::BlockMatrix& w);

  /// Roughly the blocks of the fullest of x times y partitions.
  [[nodiscard]] std::uint64_t most_blocks(std::uint32_t x, std::uint32_t y) const;

 private:
  [[nodiscard]] std::uint64_t before(std::uint64_t row, std::uint64_t column) const {
    return before_[row * (columns_ + 1) + column];
  }

  std::uint64_t rows_;
  std::uint64_t columns_;
  std::vector<std::uint64_t> before_;  ///< blocks in cells above and left of a corner
};

}  // namespace tessera::spmm_dynamic
