#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "sim/program/program.h"

/// Sums rounded exactly as tile code rounds them, in the order of a plan: the parts of bit-exact
/// references. Error bounds alone cannot tell repeated roundings from errors.
namespace tessera::kernels {

/// Rounds to the nearest f16, ties to even: below 2^-14 a multiple of 2^-24, else 11 bits.
inline double to_half(double value) {
  const double size = std::abs(value);
  const auto bits = std::bit_cast<std::uint64_t>(size);
  const auto normal =
      std::bit_cast<double>((bits + 0x1ffffffffffU + ((bits >> 42) & 1U)) & ~0x3ffffffffffU);
  const double rounded = size < 0x1p-14 ? (size + 0x1p28) - 0x1p28 : normal;
  const double finite = rounded >= 65536.0 ? std::numeric_limits<double>::infinity() : rounded;
  return std::copysign(std::isnan(value) ? value : finite, value);
}
/// As above in 32-bit arithmetic, of which a host register holds twice as many lanes.
inline float to_half(float value) {
  const float size = std::abs(value);
  const auto bits = std::bit_cast<std::uint32_t>(size);
  const auto normal = std::bit_cast<float>((bits + 0xfffU + ((bits >> 13) & 1U)) & ~0x1fffU);
  const float rounded = size < 0x1p-14F ? (size + 0.5F) - 0.5F : normal;
  const float finite = rounded >= 65536.0F ? std::numeric_limits<float>::infinity() : rounded;
  return std::copysign(std::isnan(value) ? value : finite, value);
}

inline float to_type(program::Type type, float value) {
  return type == program::Type::f16 ? to_half(value) : value;
}

/// x w + y of f16 values, rounded once. In double the product is exact, and so is the sum wherever
/// its lower bits could affect the rounding.
inline float half_multiply_add(float x, float w, float y) {
  return static_cast<float>(
      to_half(static_cast<double>(x) * static_cast<double>(w) + static_cast<double>(y)));
}

/// Dot products of one row with several columns, accumulated product by product in type `partials`.
/// f16 sums are rounded after every `summed` products: the matrix unit adds that many in f32,
/// vector code (1) rounds each.
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
  /// A weight and the numbers it multiplies, one for each sum; null: adds nothing.
  struct Term {
    float weight = 0;
    const float* numbers = nullptr;
  };
  /// Adds term(i) for i below `count`; stores after every `summed` terms and at the end.
  template <class TermOf>
  void add_terms(std::size_t count, const TermOf& term, std::span<float> sums) const {
    constexpr std::size_t kWide = 64, kNarrow = 8;
    std::size_t j = 0;
    for (; j + kWide <= sums.size(); j += kWide) add_tile<kWide>(count, term, j, &sums[j]);
    for (; j + kNarrow <= sums.size(); j += kNarrow) add_tile<kNarrow>(count, term, j, &sums[j]);
    for (; j < sums.size(); ++j) add_tile<1>(count, term, j, &sums[j]);
  }
  /// As add_terms(), with weight i and row i of x (row stride: `step` floats).
  void add_rows(std::span<const float> weights, const float* x, std::size_t step,
                std::span<float> sums) const {
    add_terms(
        weights.size(),
        [=](std::size_t i) {
          return Term{weights[i], x + i * step};
        },
        sums);
  }
  /// Adds another tile's partial sums.
  void join(std::span<const float> partial, std::span<float> sums) const {
    for (std::size_t j = 0; j < sums.size(); ++j)
      sums[j] = to_type(partials_, sums[j] + partial[j]);
  }
  /// Sum of all partial sums, on the tile that computed partials[own] and therefore starts with it.
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
  /// As add_terms(), for `kSums` sums from number j on, which stay in the host's registers.
  template <std::size_t kSums, class TermOf>
  void add_tile(std::size_t count, const TermOf& term, std::size_t j, float* sums) const {
    std::array<float, kSums> tile;
    std::copy_n(sums, kSums, tile.begin());
    for (std::size_t i = 0; i < count; ++i) {
      const auto [weight, numbers] = term(i);
      if (numbers != nullptr) add(weight, numbers + j, tile);
      if (summed_ > 1 && (i + 1) % summed_ == 0) store(tile);
    }
    store(tile);
    std::copy_n(tile.begin(), kSums, sums);
  }

  program::Type partials_;
  std::uint32_t summed_;  ///< 0: sums are f32
};

/// An element of A B^T, from a row of each, as vector code computes it
/// (sparse/code/codelets_pools.S): one f32 sum per 32 bits of a word, both added at the end.
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
