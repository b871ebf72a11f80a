#pragma once

#include <immintrin.h>

#include "sim/isa/packed/packed_portable.h"

/// The functions of packed.h with SSE registers. Arithmetic is volatile assembly for the same
/// reason as in fast_x86.h; lanes unused by an operation hold zeros, which set no flags.
namespace tessera::packed::x86 {

inline __m128i vector_of(std::uint64_t a) {
  return _mm_cvtsi64_si128(static_cast<std::int64_t>(a));
}
inline std::uint64_t low_word(__m128i a) {
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(a));
}
/// Lanes 0 and 1, the upper two zero.
inline __m128 lanes_s(std::uint64_t a) { return _mm_castsi128_ps(vector_of(a)); }

TESSERA_HOST_OPERATION(__m128, add, "vaddps")
TESSERA_HOST_OPERATION(__m128, sub, "vsubps")
TESSERA_HOST_OPERATION(__m128, mul, "vmulps")
inline __m128 fma(__m128 a, __m128 b, __m128 c) {
  asm volatile("vfmadd231ps %2, %1, %0" : "+x"(c) : "x"(a), "x"(b));
  return c;
}
/// a > b; raises NV for any NaN.
inline __m128i greater(__m128 a, __m128 b) {
  __m128i r;
  asm volatile("vcmpps $14, %2, %1, %0" : "=x"(r) : "x"(a), "x"(b));
  return r;
}
inline __m128 widen(std::uint64_t a) {
  __m128 r;
  asm volatile("vcvtph2ps %1, %0" : "=x"(r) : "x"(vector_of(a)));
  return r;
}
inline __m128i magnitude_h(__m128i a) { return _mm_and_si128(a, _mm_set1_epi16(0x7fff)); }
inline __m128i nan_lanes_h(__m128i a) {
  return _mm_cmpgt_epi16(magnitude_h(a), _mm_set1_epi16(fp::F16::kInfinity));
}
inline __m128i nan_lanes_s(__m128i a) {
  const __m128i magnitude = _mm_and_si128(a, _mm_set1_epi32(0x7fff'ffff));
  return _mm_cmpgt_epi32(magnitude, _mm_set1_epi32(fp::F32::kInfinity));
}
/// Four f32 lanes rounded to f16, NaN canonical.
inline std::uint64_t narrow(__m128 a) {
  __m128i r;
  asm volatile("vcvtps2ph $0, %1, %0" : "=x"(r) : "x"(a));
  return low_word(_mm_blendv_epi8(r, _mm_set1_epi16(fp::F16::kNan), nan_lanes_h(r)));
}
inline std::uint64_t canonical_s(__m128 a) {
  const __m128i bits = _mm_castps_si128(a);
  return low_word(_mm_blendv_epi8(bits, _mm_set1_epi32(fp::F32::kNan), nan_lanes_s(bits)));
}

// f16

inline std::uint64_t add_4h(std::uint64_t a, std::uint64_t b) {
  return narrow(add(widen(a), widen(b)));
}
inline std::uint64_t sub_4h(std::uint64_t a, std::uint64_t b) {
  return narrow(sub(widen(a), widen(b)));
}
inline std::uint64_t mul_4h(std::uint64_t a, std::uint64_t b) {
  return narrow(mul(widen(a), widen(b)));
}
inline std::uint64_t gt_4h(std::uint64_t a, std::uint64_t b) {
  const __m128i mask = greater(widen(a), widen(b));
  return low_word(_mm_packs_epi32(mask, mask));
}

/// Orders f16 patterns as integers; its own inverse.
inline __m128i key_h(__m128i a) {
  return _mm_xor_si128(a, _mm_srli_epi16(_mm_srai_epi16(a, 15), 1));
}
inline std::uint64_t min_4h(std::uint64_t a, std::uint64_t b) {
  const __m128i x = vector_of(a);
  const __m128i y = vector_of(b);
  const __m128i nan = _mm_or_si128(nan_lanes_h(x), nan_lanes_h(y));
  if (_mm_testz_si128(nan, nan) == 0) [[unlikely]]
    return portable::min_4h(a, b);
  return low_word(key_h(_mm_min_epi16(key_h(x), key_h(y))));
}
inline std::uint64_t max_4h(std::uint64_t a, std::uint64_t b) {
  const __m128i x = vector_of(a);
  const __m128i y = vector_of(b);
  const __m128i nan = _mm_or_si128(nan_lanes_h(x), nan_lanes_h(y));
  if (_mm_testz_si128(nan, nan) == 0) [[unlikely]]
    return portable::max_4h(a, b);
  return low_word(key_h(_mm_max_epi16(key_h(x), key_h(y))));
}

/// One rounding, as fp::f16_fma does it: exact product, sum rounded to odd, then to f16.
inline std::uint64_t fma_4h(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  const __m128 product = mul(widen(a), widen(b));
  const __m128 addend = widen(c);
  const __m128 sum = add(product, addend);
  const __m128i bits = _mm_castps_si128(sum);
  const __m128i infinity = _mm_set1_epi32(fp::F32::kInfinity);
  const __m128i special = _mm_cmpeq_epi32(_mm_and_si128(bits, infinity), infinity);
  if (_mm_testz_si128(special, special) == 0) [[unlikely]]
    return portable::fma_4h(a, b, c);
  const __m128 addend_part = sub(sum, product);
  const __m128 error = add(sub(product, sub(sum, addend_part)), sub(addend, addend_part));
  const __m128i error_bits = _mm_castps_si128(error);
  const __m128i one = _mm_set1_epi32(1);
  const __m128i no_error = _mm_cmpeq_epi32(_mm_slli_epi32(error_bits, 1), _mm_setzero_si128());
  const __m128i even = _mm_cmpeq_epi32(_mm_and_si128(bits, one), _mm_setzero_si128());
  // +1 where the error points away from zero, -1 where it points towards it.
  const __m128i step = _mm_or_si128(_mm_srai_epi32(_mm_xor_si128(bits, error_bits), 31), one);
  const __m128i change = _mm_and_si128(_mm_andnot_si128(no_error, even), step);
  return narrow(_mm_castsi128_ps(_mm_add_epi32(bits, change)));
}

// f32

inline std::uint64_t add_2s(std::uint64_t a, std::uint64_t b) {
  return canonical_s(add(lanes_s(a), lanes_s(b)));
}
inline std::uint64_t sub_2s(std::uint64_t a, std::uint64_t b) {
  return canonical_s(sub(lanes_s(a), lanes_s(b)));
}
inline std::uint64_t mul_2s(std::uint64_t a, std::uint64_t b) {
  return canonical_s(mul(lanes_s(a), lanes_s(b)));
}
inline std::uint64_t gt_2s(std::uint64_t a, std::uint64_t b) {
  return low_word(greater(lanes_s(a), lanes_s(b)));
}
inline __m128i key_s(__m128i a) {
  return _mm_xor_si128(a, _mm_srli_epi32(_mm_srai_epi32(a, 31), 1));
}
inline std::uint64_t min_2s(std::uint64_t a, std::uint64_t b) {
  const __m128i x = vector_of(a);
  const __m128i y = vector_of(b);
  const __m128i nan = _mm_or_si128(nan_lanes_s(x), nan_lanes_s(y));
  if (_mm_testz_si128(nan, nan) == 0) [[unlikely]]
    return portable::min_2s(a, b);
  return low_word(key_s(_mm_min_epi32(key_s(x), key_s(y))));
}
inline std::uint64_t max_2s(std::uint64_t a, std::uint64_t b) {
  const __m128i x = vector_of(a);
  const __m128i y = vector_of(b);
  const __m128i nan = _mm_or_si128(nan_lanes_s(x), nan_lanes_s(y));
  if (_mm_testz_si128(nan, nan) == 0) [[unlikely]]
    return portable::max_2s(a, b);
  return low_word(key_s(_mm_max_epi32(key_s(x), key_s(y))));
}
/// A NaN result may need a flag that x86 does not set: infinity times zero plus a quiet NaN.
inline std::uint64_t fma_2s(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  const __m128i r = _mm_castps_si128(fma(lanes_s(a), lanes_s(b), lanes_s(c)));
  const __m128i nan = nan_lanes_s(r);
  if (_mm_testz_si128(nan, nan) == 0) [[unlikely]]
    return portable::fma_2s(a, b, c);
  return low_word(r);
}

inline std::uint64_t dot2_s_h(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  constexpr int kEven = 0x08;  // lanes 0 and 2, then two zeros
  constexpr int kOdd = 0x0d;   // lanes 1 and 3
  const __m128 zero = _mm_setzero_ps();
  const __m128 x = widen(a);
  const __m128 y = widen(b);
  const __m128 first =
      fma(_mm_shuffle_ps(x, zero, kEven), _mm_shuffle_ps(y, zero, kEven), lanes_s(c));
  const __m128 both = fma(_mm_shuffle_ps(x, zero, kOdd), _mm_shuffle_ps(y, zero, kOdd), first);
  const __m128i nan = nan_lanes_s(_mm_castps_si128(both));
  if (_mm_testz_si128(nan, nan) == 0) [[unlikely]]
    return portable::dot2_s_h(a, b, c);
  return low_word(_mm_castps_si128(both));
}

inline std::uint64_t pack_4h(std::uint64_t a, std::uint64_t b) {
  return narrow(_mm_castsi128_ps(_mm_unpacklo_epi64(vector_of(a), vector_of(b))));
}
inline std::uint64_t unpkl_2s(std::uint64_t a) { return canonical_s(widen(a & 0xffff'ffff)); }

}  // namespace tessera::packed::x86
