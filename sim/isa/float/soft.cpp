#include "sim/isa/float/soft.h"

namespace tessera::fp::soft {

namespace {

__extension__ using Wide = unsigned __int128;

template <class F>
Bits<F> zero(bool negative) {
  return static_cast<Bits<F>>(negative ? F::kSign : 0);
}
template <class F>
Bits<F> infinity(bool negative) {
  return static_cast<Bits<F>>(zero<F>(negative) | F::kInfinity);
}
template <class F>
Bits<F> invalid(std::uint32_t& flags) {
  flags |= kInvalid;
  return F::kNan;
}

int leading_zeros(Wide value) {
  const auto high = static_cast<std::uint64_t>(value >> 64);
  return high != 0 ? std::countl_zero(high)
                   : 64 + std::countl_zero(static_cast<std::uint64_t>(value));
}

/// value * 2^(exponent - 127), value nonzero.
Unpacked narrow(bool negative, int exponent, Wide value) {
  const int zeros = leading_zeros(value);
  value = shift_right_sticky<Wide>(value << zeros, 64);
  return {negative, exponent - zeros, static_cast<std::uint64_t>(value)};
}

/// Exact: 24-bit significands multiply to 48 bits, left-aligned in `Wide`.
Wide product(const Unpacked& a, const Unpacked& b) {
  return static_cast<Wide>(a.significand) * b.significand;
}

template <class F>
Bits<F> fma_special(Bits<F> a, Bits<F> b, Bits<F> c, std::uint32_t& flags) {
  const bool infinite = is_infinite<F>(a) || is_infinite<F>(b);
  const bool any_nan = is_nan<F>(a) || is_nan<F>(b) || is_nan<F>(c);
  if (is_signalling<F>(a) || is_signalling<F>(b) || is_signalling<F>(c)) return invalid<F>(flags);
  // The manual requires NV for infinity times zero even with a quiet NaN addend.
  if (infinite && (is_zero<F>(a) || is_zero<F>(b))) return invalid<F>(flags);
  if (any_nan) return F::kNan;
  const bool negative = is_negative<F>(a) != is_negative<F>(b);
  if (!infinite) return c;
  if (is_infinite<F>(c) && is_negative<F>(c) != negative) return invalid<F>(flags);
  return infinity<F>(negative);
}

/// The exact sum of two products or addends given as significand * 2^(exponent - 127), sticky.
template <class F>
Bits<F> add_exact(bool negative, int exponent, Wide value, const Unpacked& c, Rounding mode,
                  std::uint32_t& flags) {
  // One bit of headroom for the carry.
  Wide left = value >> 1;
  Wide right = static_cast<Wide>(c.significand) << 63;
  int top = exponent;
  if (exponent >= c.exponent) {
    right = shift_right_sticky(right, exponent - c.exponent);
  } else {
    left = shift_right_sticky(left, c.exponent - exponent);
    top = c.exponent;
  }
  if (negative == c.negative)
    return round_pack<F>(narrow(negative, top + 1, left + right), mode, flags);
  if (left == right) return zero<F>(mode == Rounding::rdn);
  const bool sign = left > right ? negative : c.negative;
  const Wide difference = left > right ? left - right : right - left;
  return round_pack<F>(narrow(sign, top + 1, difference), mode, flags);
}

}  // namespace

template <class F>
Bits<F> fma(Bits<F> a, Bits<F> b, Bits<F> c, Rounding mode, std::uint32_t& flags) {
  if (magnitude<F>(a) >= F::kInfinity || magnitude<F>(b) >= F::kInfinity ||
      magnitude<F>(c) >= F::kInfinity) {
    return fma_special<F>(a, b, c, flags);
  }
  const bool negative = is_negative<F>(a) != is_negative<F>(b);
  if (is_zero<F>(a) || is_zero<F>(b)) {
    if (!is_zero<F>(c)) return c;
    return negative == is_negative<F>(c) ? c : zero<F>(mode == Rounding::rdn);
  }
  const Unpacked x = unpack<F>(a);
  const Unpacked y = unpack<F>(b);
  const Wide significand = product(x, y);
  const int exponent = x.exponent + y.exponent + 1;
  if (is_zero<F>(c)) return round_pack<F>(narrow(negative, exponent, significand), mode, flags);
  // Aligning the top bit loses nothing: the product has 48 bits.
  const int zeros = leading_zeros(significand);
  return add_exact<F>(negative, exponent - zeros, significand << zeros, unpack<F>(c), mode, flags);
}

template <class F>
Bits<F> mul(Bits<F> a, Bits<F> b, Rounding mode, std::uint32_t& flags) {
  const bool negative = is_negative<F>(a) != is_negative<F>(b);
  if (magnitude<F>(a) >= F::kInfinity || magnitude<F>(b) >= F::kInfinity) {
    return fma_special<F>(a, b, zero<F>(false), flags);
  }
  if (is_zero<F>(a) || is_zero<F>(b)) return zero<F>(negative);
  const Unpacked x = unpack<F>(a);
  const Unpacked y = unpack<F>(b);
  return round_pack<F>(narrow(negative, x.exponent + y.exponent + 1, product(x, y)), mode, flags);
}

template <class F>
Bits<F> div(Bits<F> a, Bits<F> b, Rounding mode, std::uint32_t& flags) {
  const bool negative = is_negative<F>(a) != is_negative<F>(b);
  if (is_signalling<F>(a) || is_signalling<F>(b)) return invalid<F>(flags);
  if (is_nan<F>(a) || is_nan<F>(b)) return F::kNan;
  if (is_infinite<F>(a)) return is_infinite<F>(b) ? invalid<F>(flags) : infinity<F>(negative);
  if (is_infinite<F>(b)) return zero<F>(negative);
  if (is_zero<F>(b)) {
    if (is_zero<F>(a)) return invalid<F>(flags);
    flags |= kDivideByZero;
    return infinity<F>(negative);
  }
  if (is_zero<F>(a)) return zero<F>(negative);
  const Unpacked x = unpack<F>(a);
  const Unpacked y = unpack<F>(b);
  const Wide dividend = static_cast<Wide>(x.significand) << 63;
  const Wide sticky = dividend % y.significand != 0 ? 1 : 0;
  return round_pack<F>(
      narrow(negative, x.exponent - y.exponent + 64, dividend / y.significand | sticky), mode,
      flags);
}

template <class F>
Bits<F> sqrt(Bits<F> a, Rounding mode, std::uint32_t& flags) {
  if (is_signalling<F>(a)) return invalid<F>(flags);
  if (is_nan<F>(a)) return F::kNan;
  if (is_zero<F>(a)) return a;
  if (is_negative<F>(a)) return invalid<F>(flags);
  if (is_infinite<F>(a)) return a;
  const Unpacked x = unpack<F>(a);
  const bool odd = (x.exponent & 1) != 0;
  // x = radicand * 2^(even - 62), radicand below 2^64: 32 bits of root, then sticky.
  const std::uint64_t radicand = odd ? x.significand : x.significand >> 1;
  const int exponent = (odd ? x.exponent - 1 : x.exponent) / 2;
  std::uint64_t root = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 31; bit != 0; bit >>= 1) {
    const std::uint64_t trial = root | bit;
    if (trial * trial <= radicand) root = trial;
  }
  const std::uint64_t sticky = root * root != radicand ? 1 : 0;
  return round_pack<F>({false, exponent, root << 32 | sticky}, mode, flags);
}

template <class To, class From>
Bits<To> convert(Bits<From> a, Rounding mode, std::uint32_t& flags) {
  if (is_signalling<From>(a)) return invalid<To>(flags);
  if (is_nan<From>(a)) return To::kNan;
  if (is_infinite<From>(a)) return infinity<To>(is_negative<From>(a));
  if (is_zero<From>(a)) return zero<To>(is_negative<From>(a));
  return round_pack<To>(unpack<From>(a), mode, flags);
}

namespace {

/// Rounds to an integer within [lowest, highest].
template <class F>
std::uint32_t to_integer(Bits<F> a, std::int64_t lowest, std::int64_t highest, Rounding mode,
                         std::uint32_t& flags) {
  const bool negative = is_negative<F>(a);
  const std::int64_t saturated = negative && !is_nan<F>(a) ? lowest : highest;
  if (is_zero<F>(a)) return 0;
  const bool finite = magnitude<F>(a) < F::kInfinity;
  const Unpacked value = unpack<F>(a);
  if (!finite || value.exponent > 32) {
    flags |= kInvalid;
    return static_cast<std::uint32_t>(saturated);
  }
  Unpacked shifted = value;
  if (value.exponent < 0)
    shifted.significand = shift_right_sticky(value.significand, -value.exponent - 1);
  const int dropped = value.exponent < 0 ? 64 : 63 - value.exponent;
  const auto rounded = static_cast<std::int64_t>(round_significand(shifted, dropped, mode));
  const std::int64_t result = negative ? -rounded : rounded;
  if (result < lowest || result > highest) {
    flags |= kInvalid;
    return static_cast<std::uint32_t>(saturated);
  }
  const bool exact = value.exponent >= 0 && (value.significand << value.exponent << 1) == 0;
  if (!exact) flags |= kInexact;
  return static_cast<std::uint32_t>(result);
}

template <class F>
Bits<F> from_magnitude(bool negative, std::uint32_t value, Rounding mode, std::uint32_t& flags) {
  if (value == 0) return 0;
  const int zeros = std::countl_zero(std::uint64_t{value});
  return round_pack<F>({negative, 63 - zeros, std::uint64_t{value} << zeros}, mode, flags);
}

}  // namespace

template <class F>
std::uint32_t to_i32(Bits<F> a, Rounding mode, std::uint32_t& flags) {
  return to_integer<F>(a, INT32_MIN, INT32_MAX, mode, flags);
}

template <class F>
std::uint32_t to_u32(Bits<F> a, Rounding mode, std::uint32_t& flags) {
  return to_integer<F>(a, 0, UINT32_MAX, mode, flags);
}

template <class F>
Bits<F> from_i32(std::uint32_t a, Rounding mode, std::uint32_t& flags) {
  const bool negative = (a >> 31) != 0;
  return from_magnitude<F>(negative, negative ? 0U - a : a, mode, flags);
}

template <class F>
Bits<F> from_u32(std::uint32_t a, Rounding mode, std::uint32_t& flags) {
  return from_magnitude<F>(false, a, mode, flags);
}

#define INSTANTIATE(F)                                                          \
  template Bits<F> fma<F>(Bits<F>, Bits<F>, Bits<F>, Rounding, std::uint32_t&); \
  template Bits<F> mul<F>(Bits<F>, Bits<F>, Rounding, std::uint32_t&);          \
  template Bits<F> div<F>(Bits<F>, Bits<F>, Rounding, std::uint32_t&);          \
  template Bits<F> sqrt<F>(Bits<F>, Rounding, std::uint32_t&);                  \
  template std::uint32_t to_i32<F>(Bits<F>, Rounding, std::uint32_t&);          \
  template std::uint32_t to_u32<F>(Bits<F>, Rounding, std::uint32_t&);          \
  template Bits<F> from_i32<F>(std::uint32_t, Rounding, std::uint32_t&);        \
  template Bits<F> from_u32<F>(std::uint32_t, Rounding, std::uint32_t&)
INSTANTIATE(F16);
INSTANTIATE(F32);
#undef INSTANTIATE

template Bits<F16> convert<F16, F32>(Bits<F32>, Rounding, std::uint32_t&);
template Bits<F32> convert<F32, F16>(Bits<F16>, Rounding, std::uint32_t&);

}  // namespace tessera::fp::soft
