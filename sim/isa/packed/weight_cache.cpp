#include "sim/isa/packed/weight_cache.h"

#include <cstring>

#include "sim/base/types.h"
#include "sim/isa/float/soft.h"
#include "sim/isa/packed/packed.h"

namespace tessera::packed {

namespace {

// Makes NaNs canonical first: widening a signalling one would set NV.
#if TESSERA_HOST_FLOAT

void widen_weights(float* rows, const std::uint64_t* words, std::size_t weights) {
  for (std::size_t i = 0; i < weights; i += 8) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(words + i / 4));
    const __m128i nan = x86::nan_lanes_h(halves);
    const __m128i quiet = _mm_blendv_epi8(halves, _mm_set1_epi16(fp::F16::kNan), nan);
    _mm256_store_ps(rows + i, _mm256_cvtph_ps(quiet));
  }
}

#else

void widen_weights(float* rows, const std::uint64_t* words, std::size_t weights) {
  for (std::size_t i = 0; i < weights; i += 4) {
    const std::uint64_t quiet = portable::each_h(fp::canonical<fp::F16>, words[i / 4]);
    const std::uint64_t pairs[2] = {unpkl_2s(quiet), unpkh_2s(quiet)};
    std::memcpy(rows + i, pairs, sizeof pairs);
  }
}

#endif

}  // namespace

void WeightCache::fill(AmpKind kind, std::uint32_t weights, const std::uint64_t* words) {
  constexpr std::size_t kAlign = 64;
  if (size_ < weights) {
    const std::size_t bytes = weights * sizeof(float);
    rows_.reset(static_cast<float*>(std::aligned_alloc(kAlign, round_up(bytes, kAlign))));
    size_ = weights;
  }
  kind_ = kind;
  if (kind != AmpKind::s) return widen_weights(rows_.get(), words, weights);
  for (std::size_t i = 0; i < weights; i += 2) {
    const std::uint64_t quiet = portable::each_s(fp::canonical<fp::F32>, words[i / 2]);
    std::memcpy(rows_.get() + i, &quiet, sizeof quiet);
  }
}

}  // namespace tessera::packed
