#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "kernels/layout.h"
#include "sim/config/fields.h"
#include "sim/program/program.h"

/// The discrete Fourier transform of complex f32 points in one or two dimensions with lengths that
/// are powers of two, or of a batch of such arrays: X[k] = sum over n of x[n] exp(-+2 pi i n k /
/// N); the inverse is not divided by N.
namespace tessera::fft {

enum class Direction : std::uint8_t { forward, inverse };
inline constexpr config::Names<Direction, 2> kDirections{
    {{"forward", Direction::forward}, {"inverse", Direction::inverse}}};

/// Layout of points and results: in order, in equal contiguous parts over all tiles, or as the plan
/// has them.
using kernels::Layout;

constexpr program::Type kType = program::Type::f32;
constexpr std::uint64_t kRealBytes = 4;
constexpr std::uint64_t kPointBytes = 8;
constexpr std::uint64_t kUnitBytes = 16;  ///< two points: two real parts, two imaginary parts
constexpr std::uint32_t kUnitPoints = 2;
constexpr std::uint64_t kMostPoints = 1U << 24;

struct Problem {
  std::uint32_t points = 1U << 20;  ///< along the last dimension
  std::uint32_t rows = 1;           ///< along the first of two dimensions; 1: one dimension
  Direction direction = Direction::forward;
  Layout layout = Layout::natural;
  std::uint32_t batch = 1;  ///< number of separate transforms: 1 or an even number

  [[nodiscard]] std::uint64_t each() const { return std::uint64_t{points} * rows; }
  [[nodiscard]] std::uint64_t total() const { return each() * batch; }
  /// Rows of all arrays together.
  [[nodiscard]] std::uint64_t all_rows() const { return std::uint64_t{rows} * batch; }
  /// Bits of a point's number within its array.
  [[nodiscard]] std::uint32_t bits() const {
    return static_cast<std::uint32_t>(std::countr_zero(each()));
  }
  /// The first digit that is transformed; a batch is a digit before it.
  [[nodiscard]] std::uint32_t first_phase() const { return batch > 1 ? 1 : 0; }
  [[nodiscard]] double sign() const { return direction == Direction::forward ? -1 : 1; }
};

/// Partition of a transform: phases of shorter transforms, tiles, and the passes of each phase.
struct Plan {
  /// Lengths of the phases; with a batch the first entry is the number of arrays. Their product is
  /// the total number of points.
  std::vector<std::uint32_t> lengths;
  /// Tiles along each exchange between phases; with a batch the first entry is the number of tiles
  /// that share its arrays.
  std::vector<std::uint32_t> parts;
  std::vector<std::uint32_t> radices;  ///< radices of all passes, in order of phases
};
void describe(config::Fields& fields, Plan& plan);

}  // namespace tessera::fft
