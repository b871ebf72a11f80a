#pragma once

#include <cstdint>

#include "sim/base/splitmix.h"

/// Counter-based random data: any element, on any host thread, in any order, on any host.
namespace tessera::data {

/// A well-mixed 64-bit value of (seed, stream, index).
constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return splitmix64(splitmix64(seed, stream), index);
}

/// Uniform in [-1, 1), a multiple of 2^-`bits`: with 10 bits every value is exact in f16.
constexpr float random_signed(std::uint64_t seed, std::uint64_t stream, std::uint64_t index,
                              unsigned bits = 10) {
  const auto raw = static_cast<std::int64_t>(random_bits(seed, stream, index) >> (63 - bits));
  const auto half_range = std::int64_t{1} << bits;
  return static_cast<float>(raw - half_range) * (1 / static_cast<float>(half_range));
}

/// A uniform integer in [0, bound), bound > 0, by multiplication (bias below 2^-32 for bounds below
/// 2^32).
constexpr std::uint64_t random_below(std::uint64_t seed, std::uint64_t stream, std::uint64_t index,
                                     std::uint64_t bound) {
  const std::uint64_t bits = random_bits(seed, stream, index);
  const std::uint64_t high = (bits >> 32) * bound;
  const std::uint64_t low = (bits & 0xffffffffu) * bound;
  return (high + (low >> 32)) >> 32;
}

}  // namespace tessera::data
