#pragma once

#include <bit>
#include <cstdint>
#include <immintrin.h>
#include <optional>

#include "sim/isa/float/host_environment.h"
#include "sim/isa/float/quiet.h"
#include "sim/isa/float/soft.h"

/// Round-to-nearest-even arithmetic by the host's own instructions; see fast.h. Each operation is
/// one volatile assembly statement, so that no optimiser folds, repeats, speculates or drops it:
/// each of these would change the sticky flags.
namespace tessera::fp::x86 {

inline float host_float(std::uint32_t bits) { return std::bit_cast<float>(bits); }
/// Makes a NaN canonical; it is already quiet, so the comparison raises no flag.
inline std::uint32_t result_bits(float value) {
  return value != value ? F32::kNan : std::bit_cast<std::uint32_t>(value);
}

TESSERA_HOST_OPERATION(float, host_add, "vaddss")
TESSERA_HOST_OPERATION(float, host_sub, "vsubss")
TESSERA_HOST_OPERATION(float, host_mul, "vmulss")
TESSERA_HOST_OPERATION(float, host_div, "vdivss")
inline float host_sqrt(float a) {
  float r;
  asm volatile("vsqrtss %1, %1, %0" : "=x"(r) : "x"(a));
  return r;
}
inline float host_fma(float a, float b, float c) {
  asm volatile("vfmadd231ss %2, %1, %0" : "+x"(c) : "x"(a), "x"(b));
  return c;
}
/// Widens f16 to f32 exactly; NV for a signalling NaN.
inline float widen(std::uint16_t a) {
  __m128 r;
  asm volatile("vcvtph2ps %1, %0" : "=x"(r) : "x"(_mm_cvtsi32_si128(a)));
  return _mm_cvtss_f32(r);
}
/// Rounds to f16; a NaN becomes canonical.
inline std::uint16_t narrow(float a) {
  __m128i r;
  // Clears the upper lanes: their contents would set flags too.
  const __m128 lane = _mm_insert_ps(_mm_set_ss(a), _mm_set_ss(a), 0x0e);
  asm volatile("vcvtps2ph $0, %1, %0" : "=x"(r) : "x"(lane));
  return canonical<F16>(static_cast<std::uint16_t>(_mm_cvtsi128_si32(r)));
}

// f32

inline std::uint32_t f32_add(std::uint32_t a, std::uint32_t b) {
  return result_bits(host_add(host_float(a), host_float(b)));
}
inline std::uint32_t f32_sub(std::uint32_t a, std::uint32_t b) {
  return result_bits(host_sub(host_float(a), host_float(b)));
}
inline std::uint32_t f32_mul(std::uint32_t a, std::uint32_t b) {
  return result_bits(host_mul(host_float(a), host_float(b)));
}
inline std::uint32_t f32_div(std::uint32_t a, std::uint32_t b) {
  return result_bits(host_div(host_float(a), host_float(b)));
}
inline std::uint32_t f32_sqrt(std::uint32_t a) { return result_bits(host_sqrt(host_float(a))); }

/// Software path for NaN results, where NV may differ between x86 and RISC-V: infinity times zero
/// plus a quiet NaN.
[[gnu::cold, gnu::noinline]] inline std::uint32_t f32_fma_nan(std::uint32_t a, std::uint32_t b,
                                                              std::uint32_t c) {
  return raising(
      [=](std::uint32_t& flags) { return soft::fma<F32>(a, b, c, Rounding::rne, flags); });
}
/// The sum, or nothing if f32_fma must take the software path; flags set so far are among its
/// flags.
inline std::optional<std::uint32_t> f32_fma_number(std::uint32_t a, std::uint32_t b,
                                                   std::uint32_t c) {
  const float r = host_fma(host_float(a), host_float(b), host_float(c));
  if (r != r) [[unlikely]]  // already quiet: the comparison raises no flag
    return std::nullopt;
  return std::bit_cast<std::uint32_t>(r);
}
inline std::uint32_t f32_fma(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const std::optional<std::uint32_t> sum = f32_fma_number(a, b, c);
  return sum ? *sum : f32_fma_nan(a, b, c);
}

inline bool f32_eq(std::uint32_t a, std::uint32_t b) {
  bool equal;
  bool ordered;
  asm volatile("vucomiss %3, %2"
               : "=@cce"(equal), "=@ccnp"(ordered)
               : "x"(host_float(a)), "x"(host_float(b)));
  return equal && ordered;
}
inline bool f32_lt(std::uint32_t a, std::uint32_t b) {
  bool above;  // b above a, false when unordered
  asm volatile("vcomiss %1, %2" : "=@cca"(above) : "x"(host_float(a)), "x"(host_float(b)));
  return above;
}
inline bool f32_le(std::uint32_t a, std::uint32_t b) {
  bool not_below;
  asm volatile("vcomiss %1, %2" : "=@ccae"(not_below) : "x"(host_float(a)), "x"(host_float(b)));
  return not_below;
}

inline std::uint32_t f32_to_i32_rtz(std::uint32_t a) {
  std::uint32_t r;
  asm volatile("vcvttss2si %1, %0" : "=r"(r) : "x"(host_float(a)));
  // x86 returns 0x80000000 for everything out of range, with NV as required.
  if (r == 0x8000'0000U && (is_nan<F32>(a) || !is_negative<F32>(a))) [[unlikely]]
    return 0x7fff'ffffU;
  return r;
}
inline std::uint32_t f32_to_u32_rtz(std::uint32_t a) {
  constexpr std::uint32_t kTwo32 = 0x4f80'0000;
  if (a >= kTwo32) [[unlikely]]  // negative, too large, or NaN
    return raising(
        [=](std::uint32_t& flags) { return soft::to_u32<F32>(a, Rounding::rtz, flags); });
  std::uint64_t r;
  asm volatile("vcvttss2si %1, %0" : "=r"(r) : "x"(host_float(a)));
  return static_cast<std::uint32_t>(r);
}
inline std::uint32_t f32_from_i32(std::uint32_t a) {
  float r;
  asm volatile("vcvtsi2ssl %1, %2, %0" : "=x"(r) : "r"(a), "x"(_mm_setzero_ps()));
  return std::bit_cast<std::uint32_t>(r);
}
inline std::uint32_t f32_from_u32(std::uint32_t a) {
  float r;
  asm volatile("vcvtsi2ssq %1, %2, %0" : "=x"(r) : "r"(std::uint64_t{a}), "x"(_mm_setzero_ps()));
  return std::bit_cast<std::uint32_t>(r);
}

// f16: through f32. Double rounding is innocuous for + - * / and square root (24 >= 2 * 11 + 2).

inline std::uint32_t f32_from_f16(std::uint16_t a) { return result_bits(widen(a)); }
inline std::uint16_t f16_from_f32(std::uint32_t a) { return narrow(host_float(a)); }

inline std::uint16_t f16_add(std::uint16_t a, std::uint16_t b) {
  return narrow(host_add(widen(a), widen(b)));
}
inline std::uint16_t f16_sub(std::uint16_t a, std::uint16_t b) {
  return narrow(host_sub(widen(a), widen(b)));
}
inline std::uint16_t f16_mul(std::uint16_t a, std::uint16_t b) {
  return narrow(host_mul(widen(a), widen(b)));
}
inline std::uint16_t f16_div(std::uint16_t a, std::uint16_t b) {
  return narrow(host_div(widen(a), widen(b)));
}
inline std::uint16_t f16_sqrt(std::uint16_t a) { return narrow(host_sqrt(widen(a))); }

/// The exact product plus c, rounded to odd in f32 (the sum's error, found exactly, decides), then
/// to nearest in f16: one rounding in effect.
inline std::uint16_t f16_fma(std::uint16_t a, std::uint16_t b, std::uint16_t c) {
  if (magnitude<F16>(a) >= F16::kInfinity || magnitude<F16>(b) >= F16::kInfinity ||
      magnitude<F16>(c) >= F16::kInfinity) [[unlikely]]
    return raising(
        [=](std::uint32_t& flags) { return soft::fma<F16>(a, b, c, Rounding::rne, flags); });
  const float product = host_mul(widen(a), widen(b));
  const float addend = widen(c);
  const float sum = host_add(product, addend);
  const float addend_part = host_sub(sum, product);
  const float error =
      host_add(host_sub(product, host_sub(sum, addend_part)), host_sub(addend, addend_part));
  auto bits = std::bit_cast<std::uint32_t>(sum);
  const auto error_bits = std::bit_cast<std::uint32_t>(error);
  if (magnitude<F32>(error_bits) != 0 && (bits & 1) == 0) {
    // Away from zero when the error points that way, towards zero otherwise; both are odd.
    bits = ((bits ^ error_bits) & F32::kSign) == 0 ? bits + 1 : bits - 1;
  }
  return narrow(std::bit_cast<float>(bits));
}

inline bool f16_eq(std::uint16_t a, std::uint16_t b) {
  return raising([=](std::uint32_t& flags) { return eq<F16>(a, b, flags); });
}
inline bool f16_lt(std::uint16_t a, std::uint16_t b) {
  return raising([=](std::uint32_t& flags) { return lt<F16>(a, b, flags); });
}
inline bool f16_le(std::uint16_t a, std::uint16_t b) {
  return raising([=](std::uint32_t& flags) { return le<F16>(a, b, flags); });
}

inline std::uint32_t f16_to_i32_rtz(std::uint16_t a) {
  std::uint32_t r;
  asm volatile("vcvttss2si %1, %0" : "=r"(r) : "x"(widen(a)));
  if (r == 0x8000'0000U && (is_nan<F16>(a) || !is_negative<F16>(a))) [[unlikely]]
    return 0x7fff'ffffU;
  return r;
}
inline std::uint32_t f16_to_u32_rtz(std::uint16_t a) {
  if (a >= F16::kInfinity) [[unlikely]]
    return raising(
        [=](std::uint32_t& flags) { return soft::to_u32<F16>(a, Rounding::rtz, flags); });
  return f16_to_i32_rtz(a);
}
/// Beyond 2^24, where f32 would round first, f16 is infinite anyway.
inline std::uint16_t f16_from_i32(std::uint32_t a) { return narrow(host_float(f32_from_i32(a))); }
inline std::uint16_t f16_from_u32(std::uint32_t a) { return narrow(host_float(f32_from_u32(a))); }

}  // namespace tessera::fp::x86
