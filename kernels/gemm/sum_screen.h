#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/check/signs.h"
#include "kernels/gemm/reference.h"

/// Sums of rows with random signs, those of a product and those that were found.
namespace tessera::gemm {

using kernels::Screen;

/// Rows of Y = X W, or of Y^T = W^T X^T.
struct Side {
  kernels::MatrixView x, w, y;
  std::uint64_t rows, columns, depth;

  /// Columns of one row.
  [[nodiscard]] Side only(std::uint64_t row, kernels::Interval its) const {
    return {x.from(row, 0), w.from(0, its.begin), y.from(row, its.begin), 1, its.size(), depth};
  }
};

/// Sums with signs of the rows of Y: as they should be, and what their partial sums say of
/// rounding.
template <class Number>
class SumScreen {
 public:
  using SignVectors = kernels::SignVectors;

  SumScreen(const Side& side, const Rounding& rounding, const SignVectors& signs,
            HostThreads& threads)
      : side_(side),
        rounding_(rounding),
        signs_(signs),
        of_rows_(signs),
        panels_(ceil_div(signs.sums(), kColumns)),
        w_sums_(panels_ * side.depth * kColumns) {
    const std::uint64_t looks = std::max<std::uint64_t>(side.depth / kLeastLooks, 1);
    stretch_ = round_up(std::min(looks, kStretch), rounding.block);
    threads.for_ranges(side.depth, kGroup, [&](std::size_t begin, std::size_t end) {
      std::vector<Number> sums((end - begin) * signs_.sums());
      of_rows_.add(side_.w.from(begin, 0), end - begin, sums.data(), signs_.sums());
      for (std::size_t i = 0; i < sums.size(); ++i) {
        const std::size_t sum = i % signs_.sums();
        const std::size_t row = sum / kColumns * side_.depth + begin + i / signs_.sums();
        w_sums_[row * kColumns + sum % kColumns] = sums[i];
      }
    });
  }

  [[nodiscard]] Screen look(HostThreads& threads) const {
    constexpr std::size_t kGrain = 2 * kGroup;
    std::vector<Screen> pieces(ceil_div<std::size_t>(side_.rows, kGrain), Screen(signs_));
    threads.for_ranges(side_.rows, kGrain, [&](std::size_t begin, std::size_t end) {
      Group group(panels_ * kColumns, signs_);
      for (std::size_t row = begin; row < end; row += kGroup) {
        const std::uint64_t rows = std::min(kGroup, end - row);
        multiply(row, rows, group);
        look(row, rows, group, pieces[begin / kGrain]);
      }
    });
    Screen all(signs_);
    for (const Screen& piece : pieces) all.merge(piece);
    return all;
  }

 private:
  static constexpr std::size_t kColumns = kernels::kTileColumns<Number>;
  static constexpr std::size_t kGroup = 64;       // rows that pass all sums together
  static constexpr std::uint64_t kStretch = 128;  // depths between looks at partial sums, at most
  static constexpr std::uint64_t kLeastLooks = 16;

  /// Sums of some rows, [row][sum], and of each segment over its 20 vectors squares of partial
  /// sums: of all, and the largest.
  struct Group {
    Group(std::size_t width, const SignVectors& signs)
        : step(width),
          sums(kGroup * width),
          squares(kGroup * signs.segments()),
          largest(kGroup * signs.segments()),
          found(kGroup * signs.sums()) {}
    std::size_t step;
    std::vector<Number> sums;
    std::vector<double> squares, largest;
    std::vector<Number> found;  ///< of Y
    std::vector<Number> x;      ///< packed
  };

  void multiply(std::uint64_t first, std::uint64_t rows, Group& group) const {
    std::fill(group.sums.begin(), group.sums.end(), Number{0});
    std::fill(group.squares.begin(), group.squares.end(), 0.0);
    std::fill(group.largest.begin(), group.largest.end(), 0.0);
    group.x.resize(kGroup * stretch_);
    const std::uint64_t quads = ceil_div<std::uint64_t>(rows, kernels::kTileRows);
    for (std::uint64_t k = 0; k < side_.depth; k += stretch_) {
      const std::uint64_t depth = std::min(stretch_, side_.depth - k);
      kernels::pack_rows(side_.x.from(first, k), rows, depth, group.x.data());
      for (std::size_t panel = 0; panel < panels_; ++panel) {
        const Number* const w = &w_sums_[(panel * side_.depth + k) * kColumns];
        for (std::uint64_t q = 0; q < quads; ++q) {
          Number* const sums = &group.sums[q * kernels::kTileRows * group.step + panel * kColumns];
          const auto x = kernels::packed_side<Number>(&group.x[q * kernels::kTileRows * depth]);
          kernels::multiply_add_tile(x, w, depth, sums, group.step);
        }
      }
      weigh(rows, ceil_div(depth, rounding_.block), group);
    }
  }

  /// Squares of the partial sums after so many more blocks, each as large as the last.
  void weigh(std::uint64_t rows, std::uint64_t blocks, Group& group) const {
    for (std::uint64_t row = 0; row < rows; ++row) {
      for (std::uint64_t s = 0; s < signs_.segments(); ++s) {
        const double square = squares_of(&group.sums[row * group.step + s * SignVectors::kVectors]);
        const std::size_t at = row * signs_.segments() + s;
        group.squares[at] += static_cast<double>(blocks) * square;
        group.largest[at] = std::max(group.largest[at], square);
      }
    }
  }

  static double squares_of(const Number* sums) {
    double squares[4] = {};
    for (std::size_t v = 0; v < SignVectors::kVectors; ++v) {
      squares[v % 4] += static_cast<double>(sums[v]) * static_cast<double>(sums[v]);
    }
    return squares[0] + squares[1] + (squares[2] + squares[3]);
  }

  void look(std::uint64_t first, std::uint64_t rows, Group& group, Screen& screen) const {
    of_rows_.add(side_.y.from(first, 0), rows, group.found.data(), signs_.sums());
    std::vector<double> errors(signs_.sums()), deviations(signs_.segments());
    for (std::uint64_t row = 0; row < rows; ++row) {
      const Number* const sums = &group.sums[row * group.step];
      for (std::size_t i = 0; i < errors.size(); ++i) {
        errors[i] = static_cast<double>(group.found[row * errors.size() + i]) -
                    static_cast<double>(sums[i]);
      }
      for (std::uint64_t s = 0; s < signs_.segments(); ++s) {
        const std::size_t at = row * signs_.segments() + s;
        deviations[s] = deviation(group.squares[at], group.largest[at],
                                  squares_of(sums + s * SignVectors::kVectors), s);
      }
      screen.look(first + row, errors, deviations);
    }
  }

  /// Of rounding, in a sum over a segment: the mean square of a sum with random signs is the sum of
  /// squares. A rounding is off by up to its relative error, evenly: 1 / sqrt(3) of it.
  [[nodiscard]] double deviation(double stored, double largest, double value,
                                 std::uint64_t segment) const {
    const auto block = static_cast<double>(rounding_.block);
    const double partial = rounding_.partial * rounding_.partial;
    const double squares = rounding_.sum * rounding_.sum * block * stored +
                           partial * rounding_.parts * largest +
                           (rounding_.every_block ? partial * stored : 0) +
                           rounding_.result * rounding_.result * value;
    const auto depth = static_cast<double>(side_.depth);
    const double small = depth * rounding_.smallest_sum + rounding_.smallest_result +
                         (depth / block + rounding_.parts) * rounding_.smallest_partial;
    return std::sqrt(squares / (3.0 * SignVectors::kVectors) +
                     static_cast<double>(signs_.segment(segment).size()) * small * small);
  }

  const Side side_;
  const Rounding& rounding_;
  const SignVectors& signs_;
  kernels::SignedSums<Number> of_rows_;
  std::size_t panels_;
  std::uint64_t stretch_ = 0;   ///< depths between looks at partial sums
  std::vector<Number> w_sums_;  ///< of W's rows, [panel][depth][kColumns]
};

}  // namespace tessera::gemm
