#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "sim/program/program.h"

/// Roundings to f16 as bit-exact references need them: plain arithmetic that the host's
/// vectors can take, written independently of the tile ISA's.
namespace tessera::kernels {

/// To the nearest f16, ties to even: below 2^-14 a multiple of 2^-24, else 11 bits.
inline double to_half(double value) {
  const double size = std::abs(value);
  const auto bits = std::bit_cast<std::uint64_t>(size);
  const auto normal =
      std::bit_cast<double>((bits + 0x1ffffffffffU + ((bits >> 42) & 1U)) & ~0x3ffffffffffU);
  const double rounded = size < 0x1p-14 ? (size + 0x1p28) - 0x1p28 : normal;
  const double finite = rounded >= 65536.0 ? std::numeric_limits<double>::infinity() : rounded;
  return std::copysign(std::isnan(value) ? value : finite, value);
}
/// The same in 32 bits, of which a register holds twice as many.
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

/// x w + y of f16 values, rounded once: the product is exact in a double, and the sum where its
/// lower bits could decide.
inline float half_multiply_add(float x, float w, float y) {
  return static_cast<float>(
      to_half(static_cast<double>(x) * static_cast<double>(w) + static_cast<double>(y)));
}

}  // namespace tessera::kernels
