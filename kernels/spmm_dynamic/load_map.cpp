#include "kernels/spmm_dynamic/load_map.h"

#include <algorithm>
#include <cmath>

namespace tessera::spmm_dynamic {

namespace {

constexpr std::uint64_t kMostCells = 512;  // along rows and along columns

}  // namespace

LoadMap::LoadMap(const Patterns& patterns)
    : patterns_(static_cast<double>(patterns.size())),
      block_rows_(patterns.front().block_rows()),
      block_columns_(patterns.front().block_columns()),
      rows_(std::min(block_rows_, kMostCells)),
      columns_(std::min(block_columns_, kMostCells)),
      before_((rows_ + 1) * (columns_ + 1), 0) {
  for (const sparse::BlockMatrix& w : patterns)
    for (std::uint32_t row = 0; row < block_rows_; ++row) {
      const std::uint64_t i = row * rows_ / block_rows_;
      ++lengths_[w.row_begin[row + 1] - w.row_begin[row]];
      for (std::uint64_t e = w.row_begin[row]; e < w.row_begin[row + 1]; ++e) {
        const std::uint64_t j = w.column[e] * columns_ / block_columns_;
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

double LoadMap::fullest(std::uint32_t x, std::uint32_t y) const {
  std::uint64_t most = ceil_div(before_.back(), std::uint64_t{x} * y);
  for (std::uint64_t i = 0; i < x; ++i) {
    const auto [top, bottom] = within(i, x, block_rows_, rows_);
    for (std::uint64_t j = 0; j < y; ++j) {
      const auto [left, right] = within(j, y, block_columns_, columns_);
      most = std::max(most, before(bottom, right) + before(top, left) - before(bottom, left) -
                                before(top, right));
    }
  }
  return static_cast<double>(most) / patterns_;
}

double LoadMap::rows(std::uint32_t y) {
  const auto [known, is_new] = rows_in_.try_emplace(y, 0);
  if (!is_new) return known->second;
  for (const auto& [length, rows] : lengths_)
    known->second += static_cast<double>(rows) / patterns_ *
                     (1 - std::pow(1 - 1.0 / y, static_cast<double>(length)));
  return known->second;
}

}  // namespace tessera::spmm_dynamic
