#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "kernels/block_shape.h"
#include "kernels/layout.h"
#include "sim/config/fields.h"
#include "sim/program/program.h"

/// The product Y = F_L ... F_1 X of butterfly factors: each combines pairs of features whose
/// numbers differ in one bit, with a twiddle per pair.
namespace tessera::butterfly {

/// Which product of a layer Y = F X is computed.
enum class Pass : std::uint8_t {
  forward,       ///< Y = F X
  grad_input,    ///< Xg = F^H Yg
  grad_twiddles  ///< gradient of every twiddle, summed over the columns of X and Yg
};
inline constexpr config::Names<Pass, 3> kPasses{{{"forward", Pass::forward},
                                                 {"grad_input", Pass::grad_input},
                                                 {"grad_twiddles", Pass::grad_twiddles}}};

/// The parameters of a twiddle.
enum class Parameters : std::uint8_t {
  free,     ///< the four elements of a 2x2 matrix
  rotation  ///< an angle: cos, -sin; sin, cos
};
inline constexpr config::Names<Parameters, 2> kParameters{
    {{"free", Parameters::free}, {"rotation", Parameters::rotation}}};

/// The factor that is applied first: the one of the lowest or of the highest bit.
enum class Order : std::uint8_t { increasing, decreasing };
inline constexpr config::Names<Order, 2> kOrders{
    {{"increasing", Order::increasing}, {"decreasing", Order::decreasing}}};

/// Number type of X, Y and free twiddles.
enum class Number : std::uint8_t { f16, f32, complex_f32 };
inline constexpr config::Names<Number, 3> kNumbers{
    {{"f16", Number::f16}, {"f32", Number::f32}, {"complex_f32", Number::complex_f32}}};

/// Layout of X and twiddles before the run, and of Y after it.
enum class Layout : std::uint8_t {
  planned,  ///< as the plan wants, with twiddles on every tile that uses them
  blocked   ///< one copy, in equal contiguous parts over all tiles, in the order that tile code
            ///< reads
};
inline constexpr config::Names<Layout, 2> kLayouts{
    {{"planned", Layout::planned}, {"blocked", Layout::blocked}}};

/// Bytes of a packed word, handled by one instruction.
constexpr std::uint32_t kWordBytes = 8;

struct Problem {
  std::uint32_t features = 1024;  ///< a power of two
  std::uint32_t block = 1;        ///< features per block; above 1 twiddles consist of blocks
  std::uint32_t n = 256;          ///< columns of X and Y
  Number dtype = Number::f32;
  Parameters parameters = Parameters::free;
  Order order = Order::increasing;
  Pass pass = Pass::forward;
  Layout layout = Layout::planned;

  program::Type partials = program::Type::f16;  ///< type of sums for f16 blocks

  kernels::BlockShape shape = {};  ///< shape of the block products, from the machine
  kernels::BlockShape outer = {};  ///< shape of the gradients' products; else none

  /// Number of feature blocks, which factors combine in pairs.
  [[nodiscard]] std::uint32_t blocks() const { return features / block; }
  [[nodiscard]] bool blocked() const { return block > 1; }
  /// Features of a block, with padding.
  [[nodiscard]] std::uint32_t padded() const {
    return blocked() ? round_up(block, std::max({shape.depth, shape.columns, outer.columns})) : 1;
  }
  /// Number of factors: bits of a block number.
  [[nodiscard]] std::uint32_t stages() const {
    return static_cast<std::uint32_t>(std::countr_zero(blocks()));
  }
  /// Number of twiddles of a factor.
  [[nodiscard]] std::uint32_t pairs() const { return blocks() / 2; }
  [[nodiscard]] bool is_complex() const { return dtype == Number::complex_f32; }
  /// Type of real numbers, and of real and imaginary parts.
  [[nodiscard]] program::Type type() const {
    return dtype == Number::f16 ? program::Type::f16 : program::Type::f32;
  }
  /// The bit that factor `stage` (0: applied to X first) combines.
  [[nodiscard]] std::uint32_t bit(std::uint32_t stage) const {
    return order == Order::increasing ? stage : stages() - 1 - stage;
  }
  /// The twiddle of `stage` for block `number` and the block that differs from it in the stage's
  /// bit.
  [[nodiscard]] std::uint32_t pair(std::uint32_t stage, std::uint32_t number) const {
    const std::uint32_t b = bit(stage);
    return (number >> (b + 1) << b) | (number & ((1U << b) - 1));
  }
  /// Columns of a unit: those of a word (complex: one word of real and one of imaginary parts); for
  /// blocks one column of all the block's features, or as many columns as their sums take at once.
  [[nodiscard]] std::uint32_t unit_columns() const {
    if (blocked()) return std::max(outer.depth, 1U);
    return dtype == Number::f16 ? 4 : 2;
  }
  [[nodiscard]] std::uint32_t unit_bytes() const {
    if (blocked()) return padded() * shape.input_bytes * unit_columns();
    return is_complex() ? 16 : kWordBytes;
  }
  [[nodiscard]] std::uint32_t units() const { return ceil_div(n, unit_columns()); }
  /// Lines of a row: for blocks one for every `depth` features.
  [[nodiscard]] std::uint32_t lines() const { return blocked() ? padded() / shape.depth : 1; }
  /// Calls take(feature, column, at) for the values of the given column units in line `line` of all
  /// rows; `at` counts them on. Columns are those of an operand: two per complex number. Padding is
  /// left out.
  template <class Take>
  void for_line(std::uint64_t line, Interval units, std::size_t& at, const Take& take) const {
    const std::uint64_t columns = unit_columns();
    const std::uint64_t parts = is_complex() ? 2 : 1;
    const std::uint64_t depth = blocked() ? shape.depth : 1;
    const std::uint64_t first = line / lines() * block;
    for (std::uint64_t unit = units.begin; unit < units.end; ++unit)
      for (std::uint64_t i = 0; i < columns * depth * parts; ++i, ++at) {
        const std::uint64_t inner = line % lines() * depth + i % depth;
        const std::uint64_t column = unit * columns + (blocked() ? i / depth : i % columns);
        if (inner < block && column < n)
          take(first + inner, column * parts + (blocked() ? 0 : i / columns), at);
      }
  }
  /// True if tile code handles complex numbers: rotations treat both parts alike, as real numbers.
  [[nodiscard]] bool complex_code() const { return is_complex() && parameters == Parameters::free; }
  /// Bytes of a row that tile code handles at once.
  [[nodiscard]] std::uint32_t step_bytes() const {
    return complex_code() ? unit_bytes() : kWordBytes;
  }
  /// Numbers stored per twiddle on a tile.
  [[nodiscard]] std::uint32_t twiddle_numbers() const {
    if (parameters == Parameters::rotation) return 2;
    return is_complex() ? 8 : 4 * block * block;
  }
  /// Type of twiddles in files: angles are f32 for any dtype.
  [[nodiscard]] program::Type twiddle_type() const {
    return parameters == Parameters::rotation ? program::Type::f32 : type();
  }
  /// Numbers per twiddle in files, which count as parameters.
  [[nodiscard]] std::uint32_t twiddle_parameters() const {
    return parameters == Parameters::rotation ? 1 : twiddle_numbers();
  }
};

}  // namespace tessera::butterfly
