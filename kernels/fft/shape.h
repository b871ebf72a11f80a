#pragma once

#include <bit>
#include <cstdint>

#include "kernels/layout.h"
#include "sim/config/fields.h"
#include "sim/program/program.h"

/// The discrete Fourier transform of complex f32 points in one or two dimensions, lengths powers of
/// two: X[k] = sum of x[i] exp(-+2 pi i k / N), the inverse one not divided by N.
namespace tessera::fft {

using kernels::EvenSplit;
using kernels::Interval;

enum class Direction : std::uint8_t { forward, inverse };
inline constexpr config::Names<Direction, 2> kDirections{
    {{"forward", Direction::forward}, {"inverse", Direction::inverse}}};

/// Where points are given and wanted: in their order, in equal stretches on all tiles, or as the
/// plan has them.
using kernels::Layout;

constexpr program::Type kType = program::Type::f32;
constexpr std::uint64_t kPointBytes = 8;
constexpr std::uint64_t kUnitBytes = 16;  ///< of two points: two real parts, two imaginary parts
constexpr std::uint32_t kUnitPoints = 2;
constexpr std::uint64_t kMostPoints = 1U << 24;

struct Problem {
  std::uint32_t points = 1U << 20;  ///< along the only or the second dimension
  std::uint32_t rows = 1;           ///< along the first of two; 1: there is one
  Direction direction = Direction::forward;
  Layout layout = Layout::natural;

  [[nodiscard]] std::uint64_t total() const { return std::uint64_t{points} * rows; }
  /// Bits of a point's number.
  [[nodiscard]] std::uint32_t bits() const {
    return static_cast<std::uint32_t>(std::countr_zero(total()));
  }
  [[nodiscard]] double sign() const { return direction == Direction::forward ? -1 : 1; }
};

}  // namespace tessera::fft
