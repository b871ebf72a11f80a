#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "kernels/check/half.h"

/// Sums as tile code makes them, every rounding in the order of a plan: the parts of bit-exact
/// references. Results are compared with these, since no bound tells repeated roundings from
/// errors.
namespace tessera::kernels {

/// Sums of a row over some columns, product after product, kept in `partials`. Those in f16 are
/// rounded after every `summed` products: the matrix unit adds so many in f32; vector code (1)
/// rounds each.
class OrderedSums {
 public:
  OrderedSums(program::Type partials, std::uint32_t summed)
      : partials_(partials), summed_(partials == program::Type::f16 ? summed : 0) {}

  void add(float weight, const float* x, std::span<float> sums) const {
    if (summed_ == 1) {
      for (std::size_t j = 0; j < sums.size(); ++j)
        sums[j] = half_multiply_add(x[j], weight, sums[j]);
    } else {
      for (std::size_t j = 0; j < sums.size(); ++j) sums[j] = std::fma(x[j], weight, sums[j]);
    }
  }
  void store(std::span<float> sums) const {
    if (summed_ > 1) round(partials_, sums);
  }
  /// Weight i times row i of x (`step` floats from row to row), stored after every `summed`
  /// products and at the end.
  void add_rows(std::span<const float> weights, const float* x, std::size_t step,
                std::span<float> sums) const {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      add(weights[i], x + i * step, sums);
      if (summed_ > 1 && (i + 1) % summed_ == 0) store(sums);
    }
    store(sums);
  }
  /// Adds the partial sums of another tile to a row's.
  void join(std::span<const float> partial, std::span<float> sums) const {
    for (std::size_t j = 0; j < sums.size(); ++j)
      sums[j] = to_type(partials_, sums[j] + partial[j]);
  }
  /// The sum of partial sums on the tile that made number `own`, which comes first there.
  [[nodiscard]] float joined(std::span<const float> partials, std::size_t own) const {
    float sum = partials[own];
    for (std::size_t part = 0; part < partials.size(); ++part) {
      if (part != own) sum = to_type(partials_, sum + partials[part]);
    }
    return sum;
  }
  static void round(program::Type type, std::span<float> sums) {
    for (float& sum : sums) sum = to_type(type, sum);
  }

 private:
  program::Type partials_;
  std::uint32_t summed_;  ///< 0: sums are f32
};

/// An element of A B^T as vector code makes it of a row of each (sparse/code/gradient.inc): one f32
/// sum for each 32 bits of a word, which are added at the end.
inline float vector_dot(program::Type type, std::span<const float> left, const float* right) {
  const std::size_t together = type == program::Type::f16 ? 2 : 1;
  float sums[2]{};
  for (std::size_t c = 0; c < left.size(); ++c) {
    float& sum = sums[c / together % 2];
    sum = std::fma(left[c], right[c], sum);
  }
  return sums[0] + sums[1];
}

}  // namespace tessera::kernels
