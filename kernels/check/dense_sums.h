#pragma once

#include <algorithm>
#include <vector>

#include "kernels/check/freivalds.h"

namespace tessera::kernels {

/// Sums with signs of the rows of a product of dense matrices, and sums of squares of its products,
/// in `Number`.
template <class Number>
class DenseSums {
 public:
  /// Of left[.., depth] times right[depth, length of the signs].
  DenseSums(const MatrixView& left, const MatrixView& right, std::uint64_t depth,
            const SignVectors& signs, HostThreads& threads)
      : left_(left),
        depth_(depth),
        sums_(signs.sums()),
        segments_(signs.segments()),
        of_right_(panels() * depth * kColumns) {
    const RowSums right_sums = row_sums(right, depth, signs, threads);
    threads.for_ranges(depth, kStretch, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) {
        for (std::size_t i = 0; i < sums_; ++i)
          at(0, k, i) = number(right_sums.sums[k * sums_ + i]);
        for (std::size_t s = 0; s < segments_; ++s)
          at(sum_panels(), k, s) = number(right_sums.squares[k * segments_ + s]);
      }
    });
  }

  /// sums[row][sum] and squares[row][segment] of some rows.
  void find(Interval rows, std::span<double> sums, std::span<double> squares) const {
    const std::uint64_t quads = ceil_div<std::uint64_t>(rows.size(), kTileRows);
    const std::size_t step = panels() * kColumns;
    std::vector<Number> totals(quads * kTileRows * step);
    std::vector<Number> left(quads * kTileRows * kStretch);
    for (std::uint64_t k = 0; k < depth_; k += kStretch) {
      const std::uint64_t depth = std::min(kStretch, depth_ - k);
      pack_rows(left_.from(rows.begin, k), rows.size(), depth, left.data());
      for (std::size_t panel = 0; panel < panels(); ++panel) {
        if (panel == sum_panels())
          for (Number& one : left) one *= one;
        for (std::uint64_t q = 0; q < quads; ++q)
          multiply_add_tile(&left[q * kTileRows * depth],
                            &of_right_[(panel * depth_ + k) * kColumns], depth,
                            &totals[q * kTileRows * step + panel * kColumns], step);
      }
    }
    for (std::uint64_t row = 0; row < rows.size(); ++row) {
      const Number* const its = &totals[row * step];
      std::copy_n(its, sums_, &sums[row * sums_]);
      std::copy_n(its + sum_panels() * kColumns, segments_, &squares[row * segments_]);
    }
  }

 private:
  static constexpr std::size_t kColumns = kTileColumns<Number>;
  static constexpr std::uint64_t kStretch = 128;  // depths whose panels stay in a host's cache

  static Number number(double value) { return static_cast<Number>(value); }
  [[nodiscard]] std::size_t sum_panels() const { return ceil_div(sums_, kColumns); }
  [[nodiscard]] std::size_t panels() const { return sum_panels() + ceil_div(segments_, kColumns); }
  [[nodiscard]] Number& at(std::size_t panel, std::uint64_t k, std::size_t column) {
    return of_right_[((panel + column / kColumns) * depth_ + k) * kColumns + column % kColumns];
  }

  MatrixView left_;
  std::uint64_t depth_;
  std::size_t sums_, segments_;
  std::vector<Number>
      of_right_;  ///< [panel][depth][kColumns]; behind panels of sums those of squares
};

}  // namespace tessera::kernels
