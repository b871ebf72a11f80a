#include "kernels/gemm/reference.h"

#include <algorithm>
#include <cmath>

namespace tessera::gemm {

namespace {

constexpr double kDeviations = 8;

/// What the partial sums of one element say about its error.
struct PartialSums {
  double value = 0;
  double squares = 0;        ///< of the sums after every depth, added up
  double block_squares = 0;  ///< of those after every block
  double largest = 0;        ///< the largest square
};

double bound(const PartialSums& sums, std::uint64_t depth, const Rounding& rounding) {
  const auto blocks = static_cast<double>(ceil_div(depth, rounding.block));
  const double stored =
      rounding.parts * sums.largest + (rounding.every_block ? sums.block_squares : 0);
  return kDeviations *
             (rounding.sum * std::sqrt(sums.squares) + rounding.partial * std::sqrt(stored)) +
         static_cast<double>(depth) * rounding.smallest_sum +
         (blocks + rounding.parts) * rounding.smallest_partial + rounding.smallest_result +
         rounding.result * std::abs(sums.value);
}

std::vector<PartialSums> reference_row(const Finished& product, std::uint64_t row,
                                       kernels::Interval columns, std::uint64_t block) {
  std::vector<PartialSums> sums(columns.size());
  const float* x = &product.x[row * product.depth];
  for (std::uint64_t i = 0; i < product.depth; ++i) {
    const auto input = static_cast<double>(x[i]);
    const float* w = &product.w[i * product.columns + columns.begin];
    const bool block_ends = (i + 1) % block == 0 || i + 1 == product.depth;
    for (std::uint64_t j = 0; j < sums.size(); ++j) {
      PartialSums& one = sums[j];
      one.value += input * static_cast<double>(w[j]);
      const double square = one.value * one.value;
      one.squares += square;
      one.largest = std::max(one.largest, square);
      if (block_ends) one.block_squares += square;
    }
  }
  return sums;
}

std::vector<float> transposed(const std::vector<float>& matrix, std::uint64_t columns) {
  constexpr std::uint64_t kSide = 32;  // of the squares that are turned while in cache
  const std::uint64_t rows = columns == 0 ? 0 : matrix.size() / columns;
  std::vector<float> result(matrix.size());
  for (std::uint64_t i0 = 0; i0 < rows; i0 += kSide) {
    for (std::uint64_t j0 = 0; j0 < columns; j0 += kSide) {
      for (std::uint64_t i = i0; i < std::min(i0 + kSide, rows); ++i) {
        for (std::uint64_t j = j0; j < std::min(j0 + kSide, columns); ++j) {
          result[j * rows + i] = matrix[i * columns + j];
        }
      }
    }
  }
  return result;
}

}  // namespace

Finished transposed(const Finished& product) {
  return {product.columns,
          product.rows,
          product.depth,
          transposed(product.w, product.columns),
          transposed(product.x, product.depth),
          transposed(product.y, product.columns)};
}

void compare_row(const Finished& product, const Rounding& rounding, std::uint64_t row,
                 kernels::Interval columns, bool suspect, kernels::Comparison& comparison) {
  const auto sums = reference_row(product, row, columns, rounding.block);
  for (std::uint64_t j = 0; j < sums.size(); ++j) {
    const std::uint64_t column = columns.begin + j;
    const auto found = static_cast<double>(product.y[row * product.columns + column]);
    const kernels::Compared one{
        row, column, found, sums[j].value, bound(sums[j], product.depth, rounding), 0};
    suspect ? comparison.add_suspect(one) : comparison.add(one);
  }
}

void compare_all(const Finished& product, const Rounding& rounding, HostThreads& threads,
                 kernels::Comparison& comparison) {
  constexpr std::size_t kGrain = 4;
  std::vector<kernels::Comparison> pieces(ceil_div<std::size_t>(product.rows, kGrain),
                                          comparison.fresh());
  threads.for_ranges(product.rows, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      compare_row(product, rounding, row, {0, product.columns}, false, pieces[begin / kGrain]);
    }
  });
  for (const kernels::Comparison& piece : pieces) comparison.merge(piece);
  if (!comparison.passed() || !comparison.biased()) return;
  for (std::uint64_t i = 0; i < product.y.size(); ++i) {
    comparison.replay(
        {i / product.columns, i % product.columns, static_cast<double>(product.y[i])});
  }
}

}  // namespace tessera::gemm
