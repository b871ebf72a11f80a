#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "sim/isa/float/format.h"

/// An independent model of IEEE arithmetic: values are exact numbers m * 2^e with a 128-bit m; only
/// the end result is rounded to the format. Shares only the formats' constants with the
/// implementation.
namespace tessera::exact {

__extension__ using Integer = __int128;
__extension__ using Unsigned = unsigned __int128;

struct Number {
  Integer m = 0;
  int e = 0;
};

struct Result {
  std::uint32_t bits = 0;
  std::uint32_t flags = 0;
  bool operator==(const Result&) const = default;
};

template <class F>
constexpr int kLeastExponent = 2 - F::kMaxExponent - F::kPrecision;  // the last subnormal bit's

/// The exact value of a finite bit pattern.
template <class F>
Number number(std::uint32_t bits) {
  const std::uint32_t magnitude = bits & (F::kSign - 1U);
  const int biased = static_cast<int>(magnitude >> (F::kPrecision - 1));
  Integer m = magnitude & ((1U << (F::kPrecision - 1)) - 1);
  if (biased > 0) m += Integer{1} << (F::kPrecision - 1);
  const int e = kLeastExponent<F> + (biased > 0 ? biased - 1 : 0);
  return {(bits & F::kSign) != 0 ? -m : m, e};
}

inline int bit_length(Integer m) {
  const auto value = static_cast<Unsigned>(m < 0 ? -m : m);
  const auto high = static_cast<std::uint64_t>(value >> 64);
  const auto low = static_cast<std::uint64_t>(value);
  return 128 - (high != 0 ? std::countl_zero(high) : 64 + std::countl_zero(low));
}

inline Number multiply(Number a, Number b) { return {a.m * b.m, a.e + b.e}; }

/// Exact, except that an addend far below the other's last bit and every rounding boundary keeps
/// only its sign.
inline Number add(Number a, Number b) {
  if (a.m == 0) return b;
  if (b.m == 0) return a;
  if (a.e < b.e) return add(b, a);
  const int gap = a.e - b.e;
  if (bit_length(a.m) + gap <= 120) return {(a.m << gap) + b.m, b.e};
  const int room = 120 - bit_length(a.m);
  // b may still overlap a: fold its lowest bits into one sticky bit.
  const int drop = gap - room;
  const Integer floor = drop >= 127 ? (b.m < 0 ? -1 : 0) : b.m >> drop;
  const bool lost = drop >= 127 ? b.m != 0 : (floor << drop) != b.m;
  return {(((a.m << room) + floor) << 1) + (lost ? 1 : 0), a.e - room - 1};
}

/// |a| in multiples of 2^unit, rounded.
inline Integer to_units(Number a, int unit, fp::Rounding mode, bool& inexact) {
  const bool negative = a.m < 0;
  const Integer m = negative ? -a.m : a.m;
  inexact = false;
  if (a.e >= unit) return m << (a.e - unit);
  const int shift = unit - a.e;
  if (shift > 125) {
    inexact = m != 0;
    return inexact && mode == (negative ? fp::Rounding::rdn : fp::Rounding::rup) ? 1 : 0;
  }
  const Integer below = m >> shift;
  const Integer rest = m - (below << shift);
  if (rest == 0) return below;
  inexact = true;
  const Integer half = Integer{1} << (shift - 1);
  switch (mode) {
    case fp::Rounding::rtz:
      return below;
    case fp::Rounding::rdn:
      return negative ? below + 1 : below;
    case fp::Rounding::rup:
      return negative ? below : below + 1;
    case fp::Rounding::rmm:
      return rest >= half ? below + 1 : below;
    default:
      return rest > half || (rest == half && below % 2 != 0) ? below + 1 : below;
  }
}

/// A nonzero number rounded to the format.
template <class F>
Result round(Number a, fp::Rounding mode) {
  const std::uint32_t sign = a.m < 0 ? F::kSign : 0;
  const int top = bit_length(a.m) + a.e;  // |a| in [2^(top - 1), 2^top)
  const int free_unit = top - F::kPrecision;
  const int unit = free_unit < kLeastExponent<F> ? kLeastExponent<F> : free_unit;
  bool inexact = false;
  const Integer units = to_units(a, unit, mode, inexact);
  // Tiny after rounding: below the least normal even with an unbounded exponent.
  bool tiny = false;
  const Integer hidden = Integer{1} << (F::kPrecision - 1);
  if (free_unit < kLeastExponent<F>) {
    bool ignored = false;
    const bool grows = to_units(a, free_unit, mode, ignored) == 2 * hidden;
    tiny = free_unit + (grows ? 1 : 0) < kLeastExponent<F>;
  }
  std::uint32_t flags = inexact ? fp::kInexact | (tiny ? fp::kUnderflow : 0) : 0;
  const Integer above = unit - kLeastExponent<F>;
  const Integer pattern = above * hidden + units;  // a carry moves into the exponent
  if (pattern < F::kInfinity) return {sign | static_cast<std::uint32_t>(pattern), flags};
  flags = fp::kInexact | fp::kOverflow;
  const bool away = mode == fp::Rounding::rne || mode == fp::Rounding::rmm ||
                    mode == (sign != 0 ? fp::Rounding::rdn : fp::Rounding::rup);
  return {sign | (F::kInfinity - (away ? 0U : 1U)), flags};
}

template <class F>
bool nan(std::uint32_t a) {
  return (a & (F::kSign - 1U)) > F::kInfinity;
}
template <class F>
bool signalling(std::uint32_t a) {
  return nan<F>(a) && (a & F::kQuiet) == 0;
}
template <class F>
bool infinite(std::uint32_t a) {
  return (a & (F::kSign - 1U)) == F::kInfinity;
}
template <class F>
bool zero(std::uint32_t a) {
  return (a & (F::kSign - 1U)) == 0;
}

/// a * b + c.
template <class F>
Result fma(std::uint32_t a, std::uint32_t b, std::uint32_t c, fp::Rounding mode) {
  const Result invalid = {F::kNan, fp::kInvalid};
  if (signalling<F>(a) || signalling<F>(b) || signalling<F>(c)) return invalid;
  if ((infinite<F>(a) && zero<F>(b)) || (zero<F>(a) && infinite<F>(b))) return invalid;
  if (nan<F>(a) || nan<F>(b) || nan<F>(c)) return {F::kNan, 0};
  const std::uint32_t sign = (a ^ b) & F::kSign;
  if (infinite<F>(a) || infinite<F>(b)) {
    return infinite<F>(c) && (c & F::kSign) != sign ? invalid : Result{sign | F::kInfinity, 0};
  }
  if (infinite<F>(c)) return {c, 0};
  const Number sum = add(multiply(number<F>(a), number<F>(b)), number<F>(c));
  if (sum.m != 0) return round<F>(sum, mode);
  const bool both_zero_alike = zero<F>(c) && (c & F::kSign) == sign && (zero<F>(a) || zero<F>(b));
  if (both_zero_alike) return {c, 0};
  return {mode == fp::Rounding::rdn ? F::kSign : 0U, 0};
}

template <class F>
Result add(std::uint32_t a, std::uint32_t b, fp::Rounding mode) {
  return fma<F>(a, F::kOne, b, mode);
}

template <class F>
Result mul(std::uint32_t a, std::uint32_t b, fp::Rounding mode) {
  const std::uint32_t sign = (a ^ b) & F::kSign;
  const bool finite = !infinite<F>(a) && !infinite<F>(b) && !nan<F>(a) && !nan<F>(b);
  if (finite && (zero<F>(a) || zero<F>(b))) return {sign, 0};
  return fma<F>(a, b, sign, mode);
}

template <class F>
Result div(std::uint32_t a, std::uint32_t b, fp::Rounding mode) {
  const Result invalid = {F::kNan, fp::kInvalid};
  const std::uint32_t sign = (a ^ b) & F::kSign;
  if (signalling<F>(a) || signalling<F>(b)) return invalid;
  if (nan<F>(a) || nan<F>(b)) return {F::kNan, 0};
  if ((infinite<F>(a) && infinite<F>(b)) || (zero<F>(a) && zero<F>(b))) return invalid;
  if (infinite<F>(a)) return {sign | F::kInfinity, 0};
  if (zero<F>(b)) return {sign | F::kInfinity, fp::kDivideByZero};
  if (infinite<F>(b) || zero<F>(a)) return {sign, 0};
  const Number x = number<F>(a);
  const Number y = number<F>(b);
  const Integer scaled = x.m << 70;
  Integer quotient = scaled / y.m * 2;
  if (scaled % y.m != 0) quotient += sign != 0 ? -1 : 1;
  return round<F>({quotient, x.e - y.e - 71}, mode);
}

template <class F>
Result sqrt(std::uint32_t a, fp::Rounding mode) {
  if (signalling<F>(a)) return {F::kNan, fp::kInvalid};
  if (nan<F>(a)) return {F::kNan, 0};
  if (zero<F>(a)) return {a, 0};
  if ((a & F::kSign) != 0) return {F::kNan, fp::kInvalid};
  if (infinite<F>(a)) return {a, 0};
  Number x = number<F>(a);
  const int shift = 60 + (x.e & 1);
  x = {x.m << shift, x.e - shift};
  Integer low = 0;  // bisection for the root
  Integer high = Integer{1} << 45;
  while (high - low > 1) {
    const Integer middle = (low + high) / 2;
    (middle * middle <= x.m ? low : high) = middle;
  }
  return round<F>({2 * low + (low * low != x.m ? 1 : 0), x.e / 2 - 1}, mode);
}

/// Converts between formats.
template <class To, class From>
Result convert(std::uint32_t a, fp::Rounding mode) {
  const std::uint32_t sign = (a & From::kSign) != 0 ? To::kSign : 0;
  if (nan<From>(a)) return {To::kNan, signalling<From>(a) ? fp::kInvalid : 0};
  if (infinite<From>(a)) return {sign | To::kInfinity, 0};
  if (zero<From>(a)) return {sign, 0};
  return round<To>(number<From>(a), mode);
}

/// Converts to an integer in [low, high]; saturates as in the RISC-V manual.
template <class F>
Result to_integer(std::uint32_t a, std::int64_t low, std::int64_t high, fp::Rounding mode) {
  const bool negative = (a & F::kSign) != 0;
  if (nan<F>(a)) return {static_cast<std::uint32_t>(high), fp::kInvalid};
  if (infinite<F>(a)) return {static_cast<std::uint32_t>(negative ? low : high), fp::kInvalid};
  const Number x = number<F>(a);
  if (bit_length(x.m) + x.e > 40) {
    return {static_cast<std::uint32_t>(negative ? low : high), fp::kInvalid};
  }
  bool inexact = false;
  const Integer units = to_units(x, 0, mode, inexact);
  const Integer value = negative ? -units : units;
  if (value < low) return {static_cast<std::uint32_t>(low), fp::kInvalid};
  if (value > high) return {static_cast<std::uint32_t>(high), fp::kInvalid};
  return {static_cast<std::uint32_t>(value), inexact ? fp::kInexact : 0};
}

template <class F>
Result from_integer(std::int64_t a, fp::Rounding mode) {
  return a == 0 ? Result{} : round<F>({a, 0}, mode);
}

/// -1, 0 or 1; nullopt if unordered.
template <class F>
std::optional<int> compare(std::uint32_t a, std::uint32_t b) {
  if (nan<F>(a) || nan<F>(b)) return std::nullopt;
  // An infinity counts as the value that its pattern would have with one more exponent.
  const Integer x = add(number<F>(a), {-number<F>(b).m, number<F>(b).e}).m;
  return x < 0 ? -1 : (x > 0 ? 1 : 0);
}

/// minimumNumber (want = -1) and maximumNumber (want = 1).
template <class F>
Result extreme(std::uint32_t a, std::uint32_t b, int want) {
  const std::uint32_t flags = signalling<F>(a) || signalling<F>(b) ? fp::kInvalid : 0;
  if (nan<F>(a)) return {nan<F>(b) ? F::kNan : b, flags};
  if (nan<F>(b)) return {a, flags};
  const int order = *compare<F>(a, b);
  if (order != 0) return {order == want ? a : b, flags};
  return {want < 0 ? a | b : a & b, flags};  // the sign decides between zeros
}

}  // namespace tessera::exact
