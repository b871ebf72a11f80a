#pragma once

#include <bit>
#include <cstdint>

#include "kernels/layout.h"
#include "sim/config/fields.h"
#include "sim/program/program.h"

/// The product Y = F_L ... F_1 X of butterfly factors: each joins the features that differ in one
/// bit of their number, two by two, by twiddles of its own.
namespace tessera::butterfly {

using kernels::EvenSplit;
using kernels::Interval;

/// Which product of a layer Y = F X is computed.
enum class Pass : std::uint8_t {
  forward,       ///< Y = F X
  grad_input,    ///< Xg = F^H Yg
  grad_twiddles  ///< of every twiddle, summed over the columns of X and Yg
};
inline constexpr config::Names<Pass, 3> kPasses{{{"forward", Pass::forward},
                                                 {"grad_input", Pass::grad_input},
                                                 {"grad_twiddles", Pass::grad_twiddles}}};

/// What a twiddle is made of.
enum class Parameters : std::uint8_t {
  free,     ///< the four elements of a 2x2 matrix
  rotation  ///< an angle: cos, -sin; sin, cos
};
inline constexpr config::Names<Parameters, 2> kParameters{
    {{"free", Parameters::free}, {"rotation", Parameters::rotation}}};

/// Which factor comes first: that of the lowest bit or of the highest.
enum class Order : std::uint8_t { increasing, decreasing };
inline constexpr config::Names<Order, 2> kOrders{
    {{"increasing", Order::increasing}, {"decreasing", Order::decreasing}}};

/// The numbers of X and Y, and of free twiddles.
enum class Number : std::uint8_t { f16, f32, complex_f32 };
inline constexpr config::Names<Number, 3> kNumbers{
    {{"f16", Number::f16}, {"f32", Number::f32}, {"complex_f32", Number::complex_f32}}};

/// Bytes of a packed word, which instructions take at once.
constexpr std::uint32_t kWordBytes = 8;

struct Problem {
  std::uint32_t features = 1024;  ///< a power of two
  std::uint32_t n = 256;          ///< columns of X and Y
  Number dtype = Number::f32;
  Parameters parameters = Parameters::free;
  Order order = Order::increasing;
  Pass pass = Pass::forward;

  /// Factors, and bits of a feature's number.
  [[nodiscard]] std::uint32_t stages() const {
    return static_cast<std::uint32_t>(std::countr_zero(features));
  }
  /// Twiddles of a factor.
  [[nodiscard]] std::uint32_t pairs() const { return features / 2; }
  [[nodiscard]] bool is_complex() const { return dtype == Number::complex_f32; }
  /// Of real numbers, and of real and imaginary parts.
  [[nodiscard]] program::Type type() const {
    return dtype == Number::f16 ? program::Type::f16 : program::Type::f32;
  }
  /// The bit that factor `stage` (0: applied first to X) joins.
  [[nodiscard]] std::uint32_t bit(std::uint32_t stage) const {
    return order == Order::increasing ? stage : stages() - 1 - stage;
  }
  /// The twiddle of `stage` that joins `feature` and the one that differs from it in the stage's
  /// bit.
  [[nodiscard]] std::uint32_t pair(std::uint32_t stage, std::uint32_t feature) const {
    const std::uint32_t b = bit(stage);
    return (feature >> (b + 1) << b) | (feature & ((1U << b) - 1));
  }
  /// Columns in a unit: a word, of complex numbers one of real and one of imaginary parts.
  [[nodiscard]] std::uint32_t unit_columns() const { return dtype == Number::f16 ? 4 : 2; }
  [[nodiscard]] std::uint32_t unit_bytes() const { return is_complex() ? 16 : kWordBytes; }
  [[nodiscard]] std::uint32_t units() const { return ceil_div(n, unit_columns()); }
  /// Whether tile code sees complex numbers: rotations turn both parts alike, as real ones.
  [[nodiscard]] bool complex_code() const { return is_complex() && parameters == Parameters::free; }
  /// Numbers that a tile holds of a twiddle.
  [[nodiscard]] std::uint32_t twiddle_numbers() const {
    if (parameters == Parameters::rotation) return 2;
    return is_complex() ? 8 : 4;
  }
  /// Numbers that a twiddle has in files and counts as parameters.
  [[nodiscard]] std::uint32_t twiddle_parameters() const {
    return parameters == Parameters::rotation ? 1 : twiddle_numbers();
  }
};

}  // namespace tessera::butterfly
