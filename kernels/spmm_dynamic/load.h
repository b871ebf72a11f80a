#pragma once

#include <cstdint>
#include <vector>

#include "kernels/spmm_dynamic/bucket.h"

/// How one pattern loads the partitions of a grid, for a plan that is made for it.
namespace tessera::spmm_dynamic {

struct Load {
  std::uint64_t most_blocks = 0;  ///< of one partition
  std::uint64_t step_blocks = 0;  ///< computed after steps: the most of a tile in each, added up
  std::uint32_t y_steps = 0;
  std::uint32_t x_steps = 0;
};

inline Load load_of(const Packing& packing) {
  return {packing.most_blocks, packing.step_blocks, packing.y_steps, packing.x_steps};
}

/// Counts of a pattern in cells of block rows and columns, for estimates over many grids.
class LoadMap {
 public:
  explicit LoadMap(const sparse::BlockMatrix& w);

  /// Roughly the blocks of the fullest of x times y partitions, and the steps of what `room` blocks
  /// a pool do not hold.
  [[nodiscard]] Load estimate(std::uint32_t x, std::uint32_t y, std::uint64_t room) const;

 private:
  [[nodiscard]] std::uint64_t before(std::uint64_t row, std::uint64_t column) const {
    return before_[row * (columns_ + 1) + column];
  }

  std::uint64_t rows_;
  std::uint64_t columns_;
  std::vector<std::uint64_t> before_;  ///< blocks in cells above and left of a corner
};

}  // namespace tessera::spmm_dynamic
