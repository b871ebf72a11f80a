#pragma once

#include <cstdint>

/// IEEE-754 formats on bit patterns, as the RISC-V F and Zfh chapters use them.
namespace tessera::fp {

/// Rounding modes, numbered as the rm field and fcsr.frm.
enum class Rounding : std::uint8_t { rne = 0, rtz = 1, rdn = 2, rup = 3, rmm = 4 };

/// Accrued exception flags, as bits of fcsr.fflags.
constexpr std::uint32_t kInexact = 1;
constexpr std::uint32_t kUnderflow = 2;
constexpr std::uint32_t kOverflow = 4;
constexpr std::uint32_t kDivideByZero = 8;
constexpr std::uint32_t kInvalid = 16;

/// binary16: Bits holds the pattern, kPrecision counts the hidden bit.
struct F16 {
  using Bits = std::uint16_t;
  static constexpr int kPrecision = 11;
  static constexpr int kMaxExponent = 15;
  static constexpr Bits kSign = 0x8000;
  static constexpr Bits kInfinity = 0x7c00;
  static constexpr Bits kQuiet = 0x0200;
  static constexpr Bits kNan = 0x7e00;  ///< the canonical NaN
  static constexpr Bits kOne = 0x3c00;
};

/// binary32
struct F32 {
  using Bits = std::uint32_t;
  static constexpr int kPrecision = 24;
  static constexpr int kMaxExponent = 127;
  static constexpr Bits kSign = 0x8000'0000;
  static constexpr Bits kInfinity = 0x7f80'0000;
  static constexpr Bits kQuiet = 0x0040'0000;
  static constexpr Bits kNan = 0x7fc0'0000;
  static constexpr Bits kOne = 0x3f80'0000;
};

template <class F>
using Bits = typename F::Bits;

template <class F>
constexpr Bits<F> magnitude(Bits<F> a) {
  return static_cast<Bits<F>>(a & (F::kSign - 1U));
}
template <class F>
constexpr bool is_negative(Bits<F> a) {
  return (a & F::kSign) != 0;
}
template <class F>
constexpr bool is_nan(Bits<F> a) {
  return magnitude<F>(a) > F::kInfinity;
}
template <class F>
constexpr bool is_signalling(Bits<F> a) {
  return is_nan<F>(a) && (a & F::kQuiet) == 0;
}
template <class F>
constexpr bool is_infinite(Bits<F> a) {
  return magnitude<F>(a) == F::kInfinity;
}
template <class F>
constexpr bool is_zero(Bits<F> a) {
  return magnitude<F>(a) == 0;
}
template <class F>
constexpr Bits<F> negate(Bits<F> a) {
  return static_cast<Bits<F>>(a ^ F::kSign);
}
/// Any NaN becomes the canonical one.
template <class F>
constexpr Bits<F> canonical(Bits<F> a) {
  return is_nan<F>(a) ? F::kNan : a;
}

/// NaN boxing in a 64-bit register: all bits above the value are ones; a badly boxed value reads
/// as the canonical NaN.
template <class F>
constexpr std::uint64_t box(Bits<F> a) {
  return ~static_cast<std::uint64_t>(static_cast<Bits<F>>(~0U)) | a;
}
template <class F>
constexpr Bits<F> unbox(std::uint64_t a) {
  const auto low = static_cast<Bits<F>>(a);
  return box<F>(low) == a ? low : F::kNan;
}

}  // namespace tessera::fp
