#include "sim/isa/float/host_environment.h"
#include "sim/isa/packed/amp_block.h"

#if TESSERA_HOST_FLOAT

#include <immintrin.h>

// Compiled for AVX-512 function by function; called only where the host has it.
#define TESSERA_AVX512 __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw")))

namespace tessera::packed {

namespace {

constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT;

TESSERA_AVX512 inline __m512 widen16(const std::byte* halves) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(halves)));
}
TESSERA_AVX512 inline void store_narrow16(std::byte* halves, __m512 value) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(halves), _mm512_cvtps_ph(value, kNearest));
}
/// Compares integers: a floating-point comparison would flag a signalling NaN.
TESSERA_AVX512 inline __m512 canonical16(__m512 value) {
  const __m512i bits = _mm512_castps_si512(value);
  const __m512i magnitude = _mm512_and_si512(bits, _mm512_set1_epi32(0x7fff'ffff));
  const __mmask16 nan = _mm512_cmpgt_epi32_mask(magnitude, _mm512_set1_epi32(0x7f80'0000));
  return _mm512_castsi512_ps(_mm512_mask_mov_epi32(bits, nan, _mm512_set1_epi32(0x7fc0'0000)));
}

/// sums[k] += x[k][i] * row i, for `inputs` inputs in order; false if a sum is NaN.
template <std::size_t kInputs, std::size_t kPositions>
TESSERA_AVX512 inline bool multiply_add(__m512 (&sums)[kPositions], const float* rows,
                                        const float* x) {
#ifdef __clang__
#pragma clang loop unroll(full)
#else
#pragma GCC unroll 16
#endif
  for (std::size_t i = 0; i < kInputs; ++i) {
    const __m512 row = _mm512_load_ps(rows + i * 16);
    for (std::size_t k = 0; k < kPositions; ++k) {
      sums[k] = _mm512_fmadd_ps(_mm512_set1_ps(x[k * kInputs + i]), row, sums[k]);
    }
  }
  unsigned nan = 0;
  for (const __m512& sum : sums) nan |= _mm512_cmp_ps_mask(sum, sum, _CMP_UNORD_Q);
  return nan == 0;
}

template <std::size_t kPositions>
TESSERA_AVX512 bool block_h(float* acc, float* exc, const float* rows, const std::byte* x,
                            const std::byte* partials, std::byte* out) {
  constexpr std::size_t kLast = kPositions - 1;
  alignas(64) float inputs[kPositions * 16];
  for (std::size_t k = 0; k < kPositions; ++k)
    _mm512_store_ps(inputs + k * 16, widen16(x + k * 32));
  // Hides the values from the compiler, so that broadcasts stay loads: shuffles would use the
  // multipliers' port.
  asm volatile("" : "+m"(inputs));
  __m512 sums[kPositions] = {_mm512_loadu_ps(exc)};
  for (std::size_t k = 1; k < kPositions; ++k) sums[k] = widen16(partials + (k - 1) * 32);
  if (!multiply_add<16>(sums, rows, inputs)) return false;
  const __m512 next = canonical16(widen16(partials + kLast * 32));
  store_narrow16(out, _mm512_loadu_ps(acc));
  for (std::size_t k = 0; k < kLast; ++k) store_narrow16(out + (k + 1) * 32, sums[k]);
  _mm512_storeu_ps(acc, sums[kLast]);
  _mm512_storeu_ps(exc, next);
  return true;
}

template <std::size_t kPositions>
TESSERA_AVX512 bool block_s(float* acc, float* exc, const float* rows, const std::byte* x,
                            const std::byte* partials, std::byte* out) {
  constexpr std::size_t kLast = kPositions - 1;
  __m512 sums[kPositions] = {_mm512_loadu_ps(exc)};
  for (std::size_t k = 1; k < kPositions; ++k)
    sums[k] = canonical16(_mm512_loadu_ps(partials + (k - 1) * 64));
  if (!multiply_add<8>(sums, rows, reinterpret_cast<const float*>(x))) return false;
  const __m512 next = canonical16(_mm512_loadu_ps(partials + kLast * 64));
  _mm512_storeu_ps(out, _mm512_loadu_ps(acc));
  for (std::size_t k = 0; k < kLast; ++k) _mm512_storeu_ps(out + (k + 1) * 64, sums[k]);
  _mm512_storeu_ps(acc, sums[kLast]);
  _mm512_storeu_ps(exc, next);
  return true;
}

}  // namespace

// Eight outputs fill an AVX2 register; wider ones do not help amp.hs.
AmpBlocks avx512_blocks() {
  return {{block_h<8>, block_h<4>, block_h<2>, block_h<1>},
          avx2_blocks().hs,
          {block_s<8>, block_s<4>, block_s<2>, block_s<1>}};
}

}  // namespace tessera::packed

#endif
