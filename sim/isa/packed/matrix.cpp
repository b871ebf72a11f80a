#include "sim/isa/packed/matrix.h"

#include <algorithm>
#include <type_traits>

#include "sim/isa/packed/amp_block.h"
#include "sim/isa/packed/amp_shape.h"

namespace tessera::packed {

namespace {

#if TESSERA_HOST_FLOAT

/// acc[0..8V) += phase, NaN sums left to the plain implementation.
template <class Shape>
void multiply_accumulate_x86(float* acc, const float* rows, std::uint64_t x, unsigned phase) {
  constexpr std::size_t kVectors = Shape::kOutputs / 8;
  constexpr std::size_t kInputs = kInputsAPhase<Shape>;
  alignas(16) float inputs[4];
  if constexpr (kInputs == 1) {
    inputs[0] = Shape::input(x, phase, 0);
  } else {
    _mm_store_ps(inputs, x86::widen(x));
  }
  const float* row = rows + phase * kInputs * Shape::kOutputs;
  __m256 sums[kVectors];
  __m256 nan = _mm256_setzero_ps();
  for (std::size_t v = 0; v < kVectors; ++v) {
    sums[v] = _mm256_loadu_ps(acc + v * 8);
    for (std::size_t i = 0; i < kInputs; ++i) {
      const __m256 weights = _mm256_load_ps(row + i * Shape::kOutputs + v * 8);
      sums[v] = _mm256_fmadd_ps(_mm256_set1_ps(inputs[i]), weights, sums[v]);
    }
    nan = _mm256_or_ps(nan, _mm256_cmp_ps(sums[v], sums[v], _CMP_UNORD_Q));
  }
  if (_mm256_movemask_ps(nan) != 0) [[unlikely]] {
    multiply_accumulate<Shape>(acc, rows, x, phase);
    return;
  }
  for (std::size_t v = 0; v < kVectors; ++v) _mm256_storeu_ps(acc + v * 8, sums[v]);
}

/// exchange_partials with the four lanes of a word in one register.
std::uint64_t exchange_partials_x86(float* acc, float* exc, std::uint64_t partials, unsigned imm5) {
  if ((imm5 & kAmpStart) != 0) std::swap_ranges(acc, acc + 16, exc);
  float* slots = exc + std::size_t{imm5 & kAmpPhase} * kSlotsAPhase<ShapeH>;
  const std::uint64_t result = x86::narrow(_mm_loadu_ps(slots));
  const __m128 wide = x86::widen(partials);
  const __m128 nan = _mm_castsi128_ps(x86::nan_lanes_s(_mm_castps_si128(wide)));
  const __m128 canonical = _mm_castsi128_ps(_mm_set1_epi32(fp::F32::kNan));
  _mm_storeu_ps(slots, _mm_blendv_ps(wide, canonical, nan));
  return result;
}

template <class Shape>
std::uint64_t amp(float* acc, float* exc, const float* rows, std::uint64_t x,
                  std::uint64_t partials, unsigned imm5) {
  std::uint64_t result;
  if constexpr (std::is_same_v<Shape, ShapeH>) {
    result = exchange_partials_x86(acc, exc, partials, imm5);
  } else {
    result = exchange_partials<Shape>(acc, exc, partials, imm5);
  }
  if ((imm5 & kAmpNoMac) == 0) {
    multiply_accumulate_x86<Shape>(acc, rows, x, imm5 & kAmpPhase);
  }
  return result;
}

#else

template <class Shape>
std::uint64_t amp(float* acc, float* exc, const float* rows, std::uint64_t x,
                  std::uint64_t partials, unsigned imm5) {
  return amp_plain<Shape>(acc, exc, rows, x, partials, imm5);
}

#endif

/// Integers, so that nothing is flagged.
bool has_nan(const float* bank) {
  bool any = false;
  for (std::size_t j = 0; j < 16; ++j) {
    any |= fp::is_nan<fp::F32>(std::bit_cast<std::uint32_t>(bank[j]));
  }
  return any;
}

/// Blocks, the largest first, after one position alone where the banks hold NaNs that may not be
/// canonical.
template <class Shape, auto Amp>
void positions(const AmpBlockSet& blocks, float* acc, float* exc, const float* rows,
               std::size_t count, const std::byte* x, const std::byte* partials, std::byte* out) {
  constexpr std::size_t kXBytes = 32;
  constexpr std::size_t kBytes = 8 * Shape::kPhases;
  std::size_t done = 0;
  const auto by_instruction = [&](std::size_t end) {
    for (; done < end; ++done) {
      position<Shape, Amp>(acc, exc, rows, x + done * kXBytes, partials + done * kBytes,
                           out + done * kBytes);
    }
  };
  if (has_nan(acc) || has_nan(exc)) by_instruction(std::min<std::size_t>(count, 1));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    while (blocks[i] != nullptr && count - done >= kBlockSizes[i]) {
      if (blocks[i](acc, exc, rows, x + done * kXBytes, partials + done * kBytes,
                    out + done * kBytes)) {
        done += kBlockSizes[i];
      } else {
        by_instruction(done + kBlockSizes[i]);
      }
    }
  }
  by_instruction(count);
}

}  // namespace

std::uint64_t amp_h(float* acc, float* exc, const float* rows, std::uint64_t x,
                    std::uint64_t partials, unsigned imm5) {
  return amp<ShapeH>(acc, exc, rows, x, partials, imm5);
}
std::uint64_t amp_hs(float* acc, float* exc, const float* rows, std::uint64_t x,
                     std::uint64_t partials, unsigned imm5) {
  return amp<ShapeHs>(acc, exc, rows, x, partials, imm5);
}
std::uint64_t amp_s(float* acc, float* exc, const float* rows, std::uint64_t x,
                    std::uint64_t partials, unsigned imm5) {
  return amp<ShapeS>(acc, exc, rows, x, partials, imm5);
}

void amp_h_positions(float* acc, float* exc, const float* rows, std::size_t count,
                     const std::byte* x, const std::byte* partials, std::byte* out) {
  static const AmpBlockSet blocks = host_blocks().h;
  positions<ShapeH, amp_h>(blocks, acc, exc, rows, count, x, partials, out);
}
void amp_hs_positions(float* acc, float* exc, const float* rows, std::size_t count,
                      const std::byte* x, const std::byte* partials, std::byte* out) {
  static const AmpBlockSet blocks = host_blocks().hs;
  positions<ShapeHs, amp_hs>(blocks, acc, exc, rows, count, x, partials, out);
}
void amp_s_positions(float* acc, float* exc, const float* rows, std::size_t count,
                     const std::byte* x, const std::byte* partials, std::byte* out) {
  static const AmpBlockSet blocks = host_blocks().s;
  positions<ShapeS, amp_s>(blocks, acc, exc, rows, count, x, partials, out);
}

}  // namespace tessera::packed
