#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <span>

#include "kernels/check/half.h"
#include "kernels/sparse/operand/block_matrix.h"

/// Rows of results as machines make them, every rounding in the order of a plan's sums: what sums
/// in f16 are compared with, since their bound hides what is wrong by less than a percent.
namespace tessera::sparse {

/// What the machine has to make of a row of Y; of X[k, n] row by row.
using RowReplay =
    std::function<void(std::uint32_t row, std::span<const float> x, std::span<float> y)>;

/// f16 sums of a row over some columns. The matrix unit adds up to `summed` products in f32 before
/// it stores them; vector code (summed: 1) rounds each.
class HalfSums {
 public:
  explicit HalfSums(std::uint32_t summed) : summed_(summed) {}

  void add(float weight, const float* x, std::span<float> sums) const {
    if (summed_ == 1) {
      for (std::size_t j = 0; j < sums.size(); ++j)
        sums[j] = kernels::half_multiply_add(x[j], weight, sums[j]);
    } else {
      for (std::size_t j = 0; j < sums.size(); ++j) sums[j] = std::fma(x[j], weight, sums[j]);
    }
  }
  void store(std::span<float> sums) const {
    if (summed_ == 1) return;
    for (float& sum : sums) sum = kernels::to_half(sum);
  }
  /// Row `row` of a block of W times columns of X[k, n] from `begin` on.
  void add_block(const BlockMatrix& w, std::uint64_t block, std::uint32_t row,
                 std::span<const float> x, std::size_t n, std::uint32_t begin,
                 std::span<float> sums) const {
    const std::span<const float> weights =
        w.values(block).subspan(std::size_t{row} * w.block, w.block);
    const std::uint32_t first = w.column[block] * w.block;
    for (std::uint32_t i = 0; i < w.block; ++i) {
      if (first + i < w.columns) add(weights[i], &x[(first + i) * n + begin], sums);
      if ((i + 1) % summed_ == 0) store(sums);
    }
  }
  /// The partial sums of another tile to a row's.
  static void join(std::span<const float> partial, std::span<float> sums) {
    for (std::size_t j = 0; j < sums.size(); ++j) sums[j] = kernels::to_half(sums[j] + partial[j]);
  }

 private:
  std::uint32_t summed_;
};

}  // namespace tessera::sparse
