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

/// What roundings below the smallest normal numbers add.
double below_normal(const Rounding& rounding, std::uint64_t depth) {
  const auto blocks = static_cast<double>(ceil_div(depth, rounding.block));
  return static_cast<double>(depth) * rounding.smallest_sum +
         (blocks + rounding.parts) * rounding.smallest_partial + rounding.smallest_result;
}

double stored_squares(const PartialSums& sums, const Rounding& rounding) {
  return rounding.parts * sums.largest + (rounding.every_block ? sums.block_squares : 0);
}

double bound(const PartialSums& sums, std::uint64_t depth, const Rounding& rounding) {
  const double stored = stored_squares(sums, rounding);
  return kDeviations *
             (rounding.sum * std::sqrt(sums.squares) + rounding.partial * std::sqrt(stored)) +
         below_normal(rounding, depth) + rounding.result * std::abs(sums.value);
}

/// Of the error: a rounding is off by up to its relative error, evenly.
double deviation(const PartialSums& sums, std::uint64_t depth, const Rounding& rounding) {
  const double result = rounding.result * sums.value;
  const double squares = rounding.sum * rounding.sum * sums.squares +
                         rounding.partial * rounding.partial * stored_squares(sums, rounding) +
                         result * result;
  const double small = below_normal(rounding, depth);
  return std::sqrt(squares / 3 + small * small);
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

}  // namespace

void compare_row(const Finished& product, const Rounding& rounding, std::uint64_t row,
                 kernels::Interval columns, bool suspect, kernels::Comparison& comparison) {
  const auto sums = reference_row(product, row, columns, rounding.block);
  for (std::uint64_t j = 0; j < sums.size(); ++j) {
    const std::uint64_t column = columns.begin + j;
    const auto found = static_cast<double>(product.y[row * product.columns + column]);
    const kernels::Compared one{row,
                                column,
                                found,
                                sums[j].value,
                                bound(sums[j], product.depth, rounding),
                                0,
                                deviation(sums[j], product.depth, rounding)};
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
  if (!comparison.passed() || !comparison.strays()) return;
  for (std::uint64_t i = 0; i < product.y.size(); ++i) {
    comparison.replay(
        {i / product.columns, i % product.columns, static_cast<double>(product.y[i])});
  }
}

}  // namespace tessera::gemm
