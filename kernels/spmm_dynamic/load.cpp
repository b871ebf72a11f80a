#include "kernels/spmm_dynamic/load.h"

#include <algorithm>

namespace tessera::spmm_dynamic {

namespace {

constexpr std::uint64_t kMostCells = 512;  // along rows and along columns

}  // namespace

LoadMap::LoadMap(const sparse::BlockMatrix& w)
    : rows_(std::min<std::uint64_t>(w.block_rows(), kMostCells)),
      columns_(std::min<std::uint64_t>(w.block_columns(), kMostCells)),
      before_((rows_ + 1) * (columns_ + 1), 0) {
  for (std::uint32_t row = 0; row < w.block_rows(); ++row) {
    const std::uint64_t i = row * rows_ / w.block_rows();
    for (std::uint64_t e = w.row_begin[row]; e < w.row_begin[row + 1]; ++e) {
      const std::uint64_t j = w.column[e] * columns_ / w.block_columns();
      ++before_[(i + 1) * (columns_ + 1) + j + 1];
    }
  }
  for (std::uint64_t i = 1; i <= rows_; ++i) {
    std::uint64_t row = 0;
    for (std::uint64_t j = 1; j <= columns_; ++j) {
      row += before_[i * (columns_ + 1) + j];
      before_[i * (columns_ + 1) + j] = row + before(i - 1, j);
    }
  }
}

std::uint64_t LoadMap::most_blocks(std::uint32_t x, std::uint32_t y) const {
  std::uint64_t most = 0;
  for (std::uint64_t i = 0; i < x; ++i) {
    const std::uint64_t top = i * rows_ / x;
    const std::uint64_t bottom = std::max(top + 1, (i + 1) * rows_ / x);
    for (std::uint64_t j = 0; j < y; ++j) {
      const std::uint64_t left = j * columns_ / y;
      const std::uint64_t right = std::max(left + 1, (j + 1) * columns_ / y);
      const std::uint64_t blocks =
          before(bottom, right) + before(top, left) - before(bottom, left) - before(top, right);
      most = std::max(most, blocks);
    }
  }
  return most;
}

}  // namespace tessera::spmm_dynamic
