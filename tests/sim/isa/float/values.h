#pragma once

#include <cstdint>
#include <random>

#include "sim/isa/float/format.h"

namespace tessera {

/// Bit patterns, many of them hard cases of a format: zeros, subnormals, powers of two, ends of the
/// ranges, NaNs of both kinds, and pairs of close exponents.
template <class F>
class Values {
 public:
  explicit Values(std::uint64_t seed) : random_(seed) {}

  std::uint32_t next() {
    const std::uint64_t r = random_();
    const auto any = static_cast<fp::Bits<F>>(r);
    const std::uint32_t sign = any & F::kSign;
    const auto few = static_cast<std::uint32_t>(r >> 40 & 3);
    const std::uint64_t kind = r >> 32 & 15;
    if (kind == 0) return sign | few;
    if (kind == 1) return sign | (kLeastNormal - 2 + few);
    if (kind == 2) return sign | (F::kInfinity - 2U + few);
    if (kind == 3) return sign | (F::kNan - 2U + few);
    if (kind == 4) return any & ~static_cast<std::uint32_t>(F::kInfinity);
    if (kind == 5) return sign | (F::kOne - 2U + few);
    if (kind == 6 || kind == 7) return sign | (near_one(r) + (any & (kLeastNormal - 1)));
    return kind == 8 ? sign | near_one(r) : any;
  }

 private:
  static constexpr std::uint32_t kLeastNormal = std::uint32_t{1} << (F::kPrecision - 1);
  static std::uint32_t near_one(std::uint64_t r) {
    return F::kOne + static_cast<std::uint32_t>(r >> 48 & 7) * kLeastNormal - 4 * kLeastNormal;
  }

  std::mt19937_64 random_;
};

/// One or more values of every kind, for tests of all pairs and triples.
template <class F>
inline constexpr std::uint32_t kSpecials[] = {
    0,
    1,
    2,
    (1U << (F::kPrecision - 1)) - 1,  // the largest subnormal
    1U << (F::kPrecision - 1),
    (1U << (F::kPrecision - 1)) + 1,
    F::kOne - 1U,
    F::kOne,
    F::kOne + 1U,
    F::kOne + (1U << (F::kPrecision - 2)),  // 1.5
    F::kInfinity - 1U,
    F::kInfinity,
    F::kInfinity + 1U,  // signalling
    F::kNan - 1U,
    F::kNan,
    F::kSign - 1U,
    F::kSign | 0U,
    F::kSign | 1U,
    F::kSign | (1U << (F::kPrecision - 1)),
    F::kSign | F::kOne,
    F::kSign | (F::kInfinity - 1U),
    F::kSign | F::kInfinity,
    F::kSign | (F::kInfinity + 1U),
    F::kSign | F::kNan,
};

}  // namespace tessera
