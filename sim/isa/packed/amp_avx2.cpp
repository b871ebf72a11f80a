#include "sim/isa/float/host_environment.h"
#include "sim/isa/packed/amp_block.h"

#if TESSERA_HOST_FLOAT

#include <immintrin.h>

namespace tessera::packed {

namespace {

constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT;

__m256 widen8(const std::byte* halves) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(halves)));
}
__m256 load8(const std::byte* floats) {
  return _mm256_loadu_ps(reinterpret_cast<const float*>(floats));
}
void store8(std::byte* floats, __m256 value) {
  _mm256_storeu_ps(reinterpret_cast<float*>(floats), value);
}
void store_narrow8(std::byte* halves, __m256 value) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(halves), _mm256_cvtps_ph(value, kNearest));
}
/// Compares integers: a floating-point comparison would flag a signalling NaN.
__m256 canonical8(__m256 value) {
  const __m256i magnitude =
      _mm256_and_si256(_mm256_castps_si256(value), _mm256_set1_epi32(0x7fff'ffff));
  const __m256i nan = _mm256_cmpgt_epi32(magnitude, _mm256_set1_epi32(0x7f80'0000));
  return _mm256_blendv_ps(value, _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc0'0000)),
                          _mm256_castsi256_ps(nan));
}

/// sums[k][v] += x[k][i] * row i, for `inputs` inputs in order; false if a sum is NaN.
template <std::size_t kPositions, std::size_t kVectors, std::size_t kInputs>
bool multiply_add(__m256 (&sums)[kPositions][kVectors], const float* rows, const float* x) {
  for (std::size_t i = 0; i < kInputs; ++i) {
    for (std::size_t k = 0; k < kPositions; ++k) {
      const __m256 input = _mm256_broadcast_ss(x + k * kInputs + i);
      for (std::size_t v = 0; v < kVectors; ++v) {
        const __m256 row = _mm256_load_ps(rows + (i * kVectors + v) * 8);
        sums[k][v] = _mm256_fmadd_ps(input, row, sums[k][v]);
      }
    }
  }
  __m256 nan = _mm256_setzero_ps();
  for (const auto& position : sums) {
    for (const __m256& sum : position) {
      nan = _mm256_or_ps(nan, _mm256_cmp_ps(sum, sum, _CMP_UNORD_Q));
    }
  }
  return _mm256_movemask_ps(nan) == 0;
}

void widen_inputs(float* to, const std::byte* x, std::size_t words) {
  for (std::size_t i = 0; i < words / 2; ++i) _mm256_store_ps(to + i * 8, widen8(x + i * 16));
  // Hides the values from the compiler, so that broadcasts stay loads.
  asm volatile("" : : "r"(to) : "memory");
}

// Sixteen outputs take two vectors: four positions fill the registers.
template <std::size_t kPositions>
bool block_h(float* acc, float* exc, const float* rows, const std::byte* x,
             const std::byte* partials, std::byte* out) {
  constexpr std::size_t kLast = kPositions - 1;
  alignas(32) float inputs[kPositions * 16];
  widen_inputs(inputs, x, kPositions * 4);
  __m256 sums[kPositions][2] = {{_mm256_loadu_ps(exc), _mm256_loadu_ps(exc + 8)}};
  for (std::size_t k = 1; k < kPositions; ++k) {
    for (std::size_t v = 0; v < 2; ++v) sums[k][v] = widen8(partials + (k - 1) * 32 + v * 16);
  }
  if (!multiply_add<kPositions, 2, 16>(sums, rows, inputs)) return false;
  const __m256 next[2] = {widen8(partials + kLast * 32), widen8(partials + kLast * 32 + 16)};
  for (std::size_t v = 0; v < 2; ++v) {
    store_narrow8(out + v * 16, _mm256_loadu_ps(acc + v * 8));
    for (std::size_t k = 0; k < kLast; ++k) store_narrow8(out + (k + 1) * 32 + v * 16, sums[k][v]);
    _mm256_storeu_ps(acc + v * 8, sums[kLast][v]);
    _mm256_storeu_ps(exc + v * 8, canonical8(next[v]));
  }
  return true;
}

template <std::size_t kPositions>
bool block_hs(float* acc, float* exc, const float* rows, const std::byte* x,
              const std::byte* partials, std::byte* out) {
  constexpr std::size_t kLast = kPositions - 1;
  alignas(32) float inputs[kPositions * 16];
  widen_inputs(inputs, x, kPositions * 4);
  __m256 sums[kPositions][1] = {{_mm256_loadu_ps(exc)}};
  for (std::size_t k = 1; k < kPositions; ++k)
    sums[k][0] = canonical8(load8(partials + (k - 1) * 32));
  if (!multiply_add<kPositions, 1, 16>(sums, rows, inputs)) return false;
  const __m256 next = canonical8(load8(partials + kLast * 32));
  store8(out, _mm256_loadu_ps(acc));
  for (std::size_t k = 0; k < kLast; ++k) store8(out + (k + 1) * 32, sums[k][0]);
  _mm256_storeu_ps(acc, sums[kLast][0]);
  _mm256_storeu_ps(exc, next);
  return true;
}

template <std::size_t kPositions>
bool block_s(float* acc, float* exc, const float* rows, const std::byte* x,
             const std::byte* partials, std::byte* out) {
  constexpr std::size_t kLast = kPositions - 1;
  __m256 sums[kPositions][2] = {{_mm256_loadu_ps(exc), _mm256_loadu_ps(exc + 8)}};
  for (std::size_t k = 1; k < kPositions; ++k) {
    for (std::size_t v = 0; v < 2; ++v)
      sums[k][v] = canonical8(load8(partials + (k - 1) * 64 + v * 32));
  }
  const auto* inputs = reinterpret_cast<const float*>(x);
  if (!multiply_add<kPositions, 2, 8>(sums, rows, inputs)) return false;
  const __m256 next[2] = {load8(partials + kLast * 64), load8(partials + kLast * 64 + 32)};
  for (std::size_t v = 0; v < 2; ++v) {
    store8(out + v * 32, _mm256_loadu_ps(acc + v * 8));
    for (std::size_t k = 0; k < kLast; ++k) store8(out + (k + 1) * 64 + v * 32, sums[k][v]);
    _mm256_storeu_ps(acc + v * 8, sums[kLast][v]);
    _mm256_storeu_ps(exc + v * 8, canonical8(next[v]));
  }
  return true;
}

}  // namespace

AmpBlocks avx2_blocks() {
  return {{nullptr, block_h<4>, block_h<2>, block_h<1>},
          {block_hs<8>, block_hs<4>, block_hs<2>, block_hs<1>},
          {nullptr, block_s<4>, block_s<2>, block_s<1>}};
}

}  // namespace tessera::packed

#endif
