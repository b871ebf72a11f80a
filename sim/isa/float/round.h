#pragma once

#include <bit>
#include <cstdint>

#include "sim/isa/float/format.h"

/// Unpacks finite values and rounds exact ones, with integer arithmetic only.
namespace tessera::fp {

/// A finite nonzero value: significand * 2^(exponent - 63), bit 63 of the significand set. Bit 0
/// may be sticky: "some lower bit of the exact value is not zero".
struct Unpacked {
  bool negative;
  int exponent;
  std::uint64_t significand;
};

/// Shifts right; the last bit is set if a one was lost.
template <class Word>
constexpr Word shift_right_sticky(Word value, int count) {
  constexpr int kWidth = static_cast<int>(sizeof(Word)) * 8;
  if (count <= 0) return value;
  if (count >= kWidth) return value != 0 ? 1 : 0;
  const Word lost = value & ((Word{1} << count) - 1);
  return (value >> count) | (lost != 0 ? 1 : 0);
}

template <class F>
constexpr Unpacked unpack(Bits<F> a) {
  constexpr int kFraction = F::kPrecision - 1;
  const std::uint64_t fraction = a & ((std::uint64_t{1} << kFraction) - 1);
  const int biased = magnitude<F>(a) >> kFraction;
  if (biased == 0) {
    const int zeros = std::countl_zero(fraction);
    return {is_negative<F>(a), 1 - F::kMaxExponent + 63 - kFraction - zeros, fraction << zeros};
  }
  const std::uint64_t hidden = fraction | std::uint64_t{1} << kFraction;
  return {is_negative<F>(a), biased - F::kMaxExponent, hidden << (63 - kFraction)};
}

/// True if the kept magnitude (`odd` or even) rounds up, given the first dropped bit (`half`) and
/// the `rest`.
constexpr bool rounds_up(bool negative, bool odd, bool half, bool rest, Rounding mode) {
  switch (mode) {
    case Rounding::rne:
      return half && (rest || odd);
    case Rounding::rtz:
      return false;
    case Rounding::rdn:
      return negative && (half || rest);
    case Rounding::rup:
      return !negative && (half || rest);
    case Rounding::rmm:
      return half;
  }
  return false;
}

/// The significand cut to its upper 64 - `dropped` bits and rounded; 1 <= dropped <= 64.
constexpr std::uint64_t round_significand(const Unpacked& value, int dropped, Rounding mode) {
  const std::uint64_t kept = dropped == 64 ? 0 : value.significand >> dropped;
  const bool half = (value.significand >> (dropped - 1) & 1) != 0;
  const bool rest = (value.significand & ((std::uint64_t{1} << (dropped - 1)) - 1)) != 0;
  return kept + (rounds_up(value.negative, (kept & 1) != 0, half, rest, mode) ? 1 : 0);
}

template <class F>
constexpr Bits<F> overflow(bool negative, Rounding mode, std::uint32_t& flags) {
  flags |= kOverflow | kInexact;
  const bool to_infinity = rounds_up(negative, true, true, true, mode);
  const auto result = static_cast<Bits<F>>(F::kInfinity - (to_infinity ? 0 : 1));
  return static_cast<Bits<F>>(result | (negative ? F::kSign : 0));
}

/// The nearest value of format F by `mode`; ORs NX, UF (tiny after rounding, and inexact), OF.
template <class F>
constexpr Bits<F> round_pack(Unpacked value, Rounding mode, std::uint32_t& flags) {
  constexpr int kMinExponent = 1 - F::kMaxExponent;
  constexpr int kDropped = 64 - F::kPrecision;
  const auto sign = static_cast<Bits<F>>(value.negative ? F::kSign : 0);
  int dropped = kDropped;
  int biased = value.exponent + F::kMaxExponent - 1;  // the hidden bit adds the one
  bool tiny = false;
  if (value.exponent < kMinExponent) {
    const bool reaches_normal = value.exponent == kMinExponent - 1 &&
                                round_significand(value, kDropped, mode) == std::uint64_t{1}
                                                                                << F::kPrecision;
    tiny = !reaches_normal;
    const int extra = kMinExponent - value.exponent;
    value.significand = shift_right_sticky(value.significand, extra);
    biased = 0;
  }
  const std::uint64_t rounded = round_significand(value, dropped, mode);
  if ((value.significand & ((std::uint64_t{1} << dropped) - 1)) != 0) {
    flags |= tiny ? kInexact | kUnderflow : kInexact;
  }
  const std::int64_t result = (static_cast<std::int64_t>(biased) << (F::kPrecision - 1)) +
                              static_cast<std::int64_t>(rounded);
  if (result >= F::kInfinity) return overflow<F>(value.negative, mode, flags);
  return static_cast<Bits<F>>(sign | static_cast<Bits<F>>(result));
}

}  // namespace tessera::fp
