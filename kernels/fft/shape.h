#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "kernels/layout.h"
#include "sim/config/fields.h"
#include "sim/program/program.h"

/// The discrete Fourier transform of complex f32 points in one or two dimensions, lengths powers of
/// two, or of a batch of such arrays: X[k] = sum of x[i] exp(-+2 pi i k / N), the inverse one not
/// divided by N.
namespace tessera::fft {

enum class Direction : std::uint8_t { forward, inverse };
inline constexpr config::Names<Direction, 2> kDirections{
    {{"forward", Direction::forward}, {"inverse", Direction::inverse}}};

/// Where points are given and wanted: in their order, in equal stretches on all tiles, or as the
/// plan has them.
using kernels::Layout;

constexpr program::Type kType = program::Type::f32;
constexpr std::uint64_t kRealBytes = 4;
constexpr std::uint64_t kPointBytes = 8;
constexpr std::uint64_t kUnitBytes = 16;  ///< two points: two real parts, two imaginary parts
constexpr std::uint32_t kUnitPoints = 2;
constexpr std::uint64_t kMostPoints = 1U << 24;

struct Problem {
  std::uint32_t points = 1U << 20;  ///< along the only or the second dimension
  std::uint32_t rows = 1;           ///< along the first of two; 1: there is one
  Direction direction = Direction::forward;
  Layout layout = Layout::natural;
  std::uint32_t batch = 1;  ///< arrays, each transformed alone: 1 or an even number

  [[nodiscard]] std::uint64_t each() const { return std::uint64_t{points} * rows; }
  [[nodiscard]] std::uint64_t total() const { return each() * batch; }
  /// Rows of all arrays, one array below the other.
  [[nodiscard]] std::uint64_t all_rows() const { return std::uint64_t{rows} * batch; }
  /// Bits of a point's number in its array.
  [[nodiscard]] std::uint32_t bits() const {
    return static_cast<std::uint32_t>(std::countr_zero(each()));
  }
  /// The first digit that is transformed: a batch is a digit before it, which no phase transforms.
  [[nodiscard]] std::uint32_t first_phase() const { return batch > 1 ? 1 : 0; }
  [[nodiscard]] double sign() const { return direction == Direction::forward ? -1 : 1; }
};

/// How a transform is cut: into phases of shorter ones, over tiles, and a phase into passes.
struct Plan {
  /// Lengths of the phases, the arrays of a batch before them; their product is the points of all.
  std::vector<std::uint32_t> lengths;
  /// Tiles along each exchange between phases, those among which a batch is dealt before them.
  std::vector<std::uint32_t> parts;
  std::vector<std::uint32_t> radices;  ///< radices of all passes, phase after phase
};
void describe(config::Fields& fields, Plan& plan);

}  // namespace tessera::fft
