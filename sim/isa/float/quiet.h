#pragma once

#include "sim/isa/float/format.h"

/// Operations purely on bit patterns: sign injection, classes, minimum and maximum, comparison.
namespace tessera::fp {

template <class F>
constexpr Bits<F> sgnj(Bits<F> a, Bits<F> b) {
  return static_cast<Bits<F>>(magnitude<F>(a) | (b & F::kSign));
}
template <class F>
constexpr Bits<F> sgnjn(Bits<F> a, Bits<F> b) {
  return sgnj<F>(a, negate<F>(b));
}
template <class F>
constexpr Bits<F> sgnjx(Bits<F> a, Bits<F> b) {
  return static_cast<Bits<F>>(a ^ (b & F::kSign));
}

/// fclass: one bit of ten.
template <class F>
constexpr std::uint32_t classify(Bits<F> a) {
  if (is_nan<F>(a)) return is_signalling<F>(a) ? 1U << 8 : 1U << 9;
  const bool normal = magnitude<F>(a) >> (F::kPrecision - 1) != 0;
  std::uint32_t kind = 3;  // negative zero; mirrored for positive values
  if (is_infinite<F>(a)) {
    kind = 0;
  } else if (!is_zero<F>(a)) {
    kind = normal ? 1 : 2;
  }
  return 1U << (is_negative<F>(a) ? kind : 7 - kind);
}

/// Integer key that orders all values except NaN, with -0 below +0.
template <class F>
constexpr std::int32_t order(Bits<F> a) {
  const auto value = static_cast<std::int32_t>(magnitude<F>(a));
  return is_negative<F>(a) ? -value - 1 : value;
}

/// IEEE 754-2019 minimumNumber and maximumNumber: a NaN loses against a number; a signalling NaN
/// sets NV.
template <class F>
constexpr Bits<F> min(Bits<F> a, Bits<F> b, std::uint32_t& flags) {
  if (is_nan<F>(a) || is_nan<F>(b)) [[unlikely]] {
    if (is_signalling<F>(a) || is_signalling<F>(b)) flags |= kInvalid;
    return canonical<F>(is_nan<F>(a) ? b : a);
  }
  return order<F>(a) < order<F>(b) ? a : b;
}
template <class F>
constexpr Bits<F> max(Bits<F> a, Bits<F> b, std::uint32_t& flags) {
  if (is_nan<F>(a) || is_nan<F>(b)) [[unlikely]] {
    if (is_signalling<F>(a) || is_signalling<F>(b)) flags |= kInvalid;
    return canonical<F>(is_nan<F>(a) ? b : a);
  }
  return order<F>(a) > order<F>(b) ? a : b;
}

/// feq: NV for a signalling NaN only.
template <class F>
constexpr bool eq(Bits<F> a, Bits<F> b, std::uint32_t& flags) {
  if (is_nan<F>(a) || is_nan<F>(b)) [[unlikely]] {
    if (is_signalling<F>(a) || is_signalling<F>(b)) flags |= kInvalid;
    return false;
  }
  return a == b || magnitude<F>(static_cast<Bits<F>>(a | b)) == 0;
}
/// flt, fle: NV for any NaN.
template <class F>
constexpr bool lt(Bits<F> a, Bits<F> b, std::uint32_t& flags) {
  if (is_nan<F>(a) || is_nan<F>(b)) [[unlikely]] {
    flags |= kInvalid;
    return false;
  }
  return order<F>(a) < order<F>(b) && magnitude<F>(static_cast<Bits<F>>(a | b)) != 0;
}
template <class F>
constexpr bool le(Bits<F> a, Bits<F> b, std::uint32_t& flags) {
  if (is_nan<F>(a) || is_nan<F>(b)) [[unlikely]] {
    flags |= kInvalid;
    return false;
  }
  return order<F>(a) <= order<F>(b) || magnitude<F>(static_cast<Bits<F>>(a | b)) == 0;
}

}  // namespace tessera::fp
