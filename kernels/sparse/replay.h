#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <span>

#include "kernels/check/half.h"
#include "kernels/sparse/code/shape.h"
#include "kernels/sparse/operand/block_matrix.h"

/// Rows of results as machines make them, every rounding in the order of a plan's sums: what
/// results are compared with, since no bound tells repeated roundings from errors.
namespace tessera::sparse {

/// What the machine has to make of a row of Y; of X[k, n] row by row.
using RowReplay =
    std::function<void(std::uint32_t row, std::span<const float> x, std::span<float> y)>;

/// Sums of a row over some columns, product after product, kept in `partials`. Those in f16 are
/// rounded after every `summed` products: the matrix unit adds so many in f32; vector code (1)
/// rounds each.
class Sums {
 public:
  Sums(Type partials, std::uint32_t summed)
      : partials_(partials), summed_(partials == Type::f16 ? summed : 0) {}

  void add(float weight, const float* x, std::span<float> sums) const {
    if (summed_ == 1) {
      for (std::size_t j = 0; j < sums.size(); ++j)
        sums[j] = kernels::half_multiply_add(x[j], weight, sums[j]);
    } else {
      for (std::size_t j = 0; j < sums.size(); ++j) sums[j] = std::fma(x[j], weight, sums[j]);
    }
  }
  void store(std::span<float> sums) const {
    if (summed_ > 1) round(partials_, sums);
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
      if (summed_ > 1 && (i + 1) % summed_ == 0) store(sums);
    }
  }
  /// The partial sums of another tile to a row's.
  void join(std::span<const float> partial, std::span<float> sums) const {
    for (std::size_t j = 0; j < sums.size(); ++j)
      sums[j] = kernels::to_type(partials_, sums[j] + partial[j]);
  }
  static void round(Type type, std::span<float> sums) {
    for (float& sum : sums) sum = kernels::to_type(type, sum);
  }

 private:
  Type partials_;
  std::uint32_t summed_;  ///< 0: sums are f32
};

/// An element of A B^T as vector code makes it of a row of each (code/gradient.inc): one f32 sum
/// for each 32 bits of a word, which are added at the end.
inline float vector_dot(Type type, std::span<const float> left, const float* right) {
  const std::size_t together = type == Type::f16 ? 2 : 1;
  float sums[2]{};
  for (std::size_t c = 0; c < left.size(); ++c) {
    float& sum = sums[c / together % 2];
    sum = std::fma(left[c], right[c], sum);
  }
  return sums[0] + sums[1];
}

}  // namespace tessera::sparse
