#include "sim/isa/packed/matrix.h"

#include <algorithm>
#include <type_traits>

#include "sim/isa/packed/amp_block.h"
#include "sim/isa/packed/amp_shape.h"

namespace tessera::packed {

namespace {

#if TESSERA_HOST_FLOAT

/// Computes in vectors of eight sums; the plain implementation computes NaN sums.
template <class Format, class Shape>
void multiply_accumulate_x86(const Shape& shape, float* acc, const float* rows, std::uint64_t x,
                             unsigned phase) {
  constexpr std::size_t kLanes = 8;
  constexpr unsigned kMostInputs = 4;
  const PhaseInputs inputs = phase_inputs<Format>(shape, phase);
  if (shape.outputs % kLanes != 0) return multiply_accumulate<Format>(shape, acc, rows, x, phase);
  alignas(16) float values[kMostInputs];
  if (inputs.count == kMostInputs) {
    _mm_store_ps(values, x86::widen(x));
  } else {
    for (unsigned i = 0; i < inputs.count; ++i) values[i] = Format::input(x, inputs.lane + i);
  }
  const float* row = rows + std::size_t{inputs.first} * shape.outputs;
  __m256 sums[kMostOutputs / kLanes];
  __m256 nan = _mm256_setzero_ps();
  for (std::size_t v = 0; v < shape.outputs / kLanes; ++v) {
    sums[v] = _mm256_loadu_ps(acc + v * kLanes);
    for (std::size_t i = 0; i < inputs.count; ++i) {
      const __m256 weights = _mm256_load_ps(row + i * shape.outputs + v * kLanes);
      sums[v] = _mm256_fmadd_ps(_mm256_set1_ps(values[i]), weights, sums[v]);
    }
    nan = _mm256_or_ps(nan, _mm256_cmp_ps(sums[v], sums[v], _CMP_UNORD_Q));
  }
  if (_mm256_movemask_ps(nan) != 0) [[unlikely]]
    return multiply_accumulate<Format>(shape, acc, rows, x, phase);
  for (std::size_t v = 0; v < shape.outputs / kLanes; ++v)
    _mm256_storeu_ps(acc + v * kLanes, sums[v]);
}

/// exchange_partials with the four lanes of a word in one register.
std::uint64_t exchange_partials_x86(float* exc, std::uint64_t partials, unsigned phase) {
  float* slots = exc + std::size_t{phase} * FormatH::kSumsAWord;
  const std::uint64_t result = x86::narrow(_mm_loadu_ps(slots));
  const __m128 wide = x86::widen(partials);
  const __m128 nan = _mm_castsi128_ps(x86::nan_lanes_s(_mm_castps_si128(wide)));
  const __m128 canonical = _mm_castsi128_ps(_mm_set1_epi32(fp::F32::kNan));
  _mm_storeu_ps(slots, _mm_blendv_ps(wide, canonical, nan));
  return result;
}

template <class Format, class Shape>
std::uint64_t amp(const Shape& shape, Banks& banks, const float* rows, std::uint64_t x,
                  std::uint64_t partials, unsigned number) {
  if ((number & kAmpStart) != 0) std::swap(banks.acc, banks.exc);
  const unsigned phase = amp_phase(number);
  std::uint64_t result = 0;
  if (phase < shape.partial_words) {
    if constexpr (std::is_same_v<Format, FormatH>) {
      result = exchange_partials_x86(banks.exc, partials, phase);
    } else {
      result = exchange_partials<Format>(banks.exc, partials, phase);
    }
  }
  if ((number & kAmpNoMac) == 0) multiply_accumulate_x86<Format>(shape, banks.acc, rows, x, phase);
  return result;
}

#else

template <class Format, class Shape>
std::uint64_t amp(const Shape& shape, Banks& banks, const float* rows, std::uint64_t x,
                  std::uint64_t partials, unsigned number) {
  return amp_plain<Format>(shape, banks, rows, x, partials, number);
}

#endif

template <class Format>
std::uint64_t amp_of(const AmpShape& shape, Banks& banks, const float* rows, std::uint64_t x,
                     std::uint64_t partials, unsigned number) {
  if (shape.usual) [[likely]]
    return amp<Format>(UsualShape<Format>{}, banks, rows, x, partials, number);
  return amp<Format>(shape, banks, rows, x, partials, number);
}

/// Compares integers, so that no flag is raised.
bool has_nan(const float* bank, unsigned sums) {
  bool any = false;
  for (std::size_t j = 0; j < sums; ++j) {
    any |= fp::is_nan<fp::F32>(std::bit_cast<std::uint32_t>(bank[j]));
  }
  return any;
}

/// Operand pointers that advance from position to position.
struct Stream {
  const std::byte* x;
  const std::byte* partials;
  std::byte* out;

  template <class Shape>
  void advance(const Shape& shape, std::size_t positions) {
    x += positions * shape.x_words * 8;
    partials += positions * shape.partial_words * 8;
    out += positions * shape.partial_words * 8;
  }
};

/// Executes positions one instruction at a time.
template <class Format, class Shape>
void by_instruction(const Shape& shape, Banks& banks, const float* rows, std::size_t count,
                    Stream& stream) {
  const unsigned phases_a_word = shape.phases / shape.x_words;
  for (; count > 0; --count, stream.advance(shape, 1)) {
    for (unsigned p = 0; p < shape.phases; ++p) {
      const bool moves = p < shape.partial_words;
      const std::size_t at = std::size_t{8} * p;
      const std::uint64_t partials = moves ? load_word(stream.partials + at) : 0;
      const std::uint64_t x = load_word(stream.x + std::size_t{8} * (p / phases_a_word));
      const std::uint64_t result =
          amp<Format>(shape, banks, rows, x, partials, amp_number(p) | (p == 0 ? kAmpStart : 0));
      if (moves) std::memcpy(stream.out + at, &result, sizeof result);
    }
  }
}

/// Executes blocks, largest first, after one single position if the banks hold NaNs, which may not
/// be canonical.
template <class Format>
void by_blocks(const AmpBlockSet& blocks, Banks& banks, const float* rows, std::size_t count,
               Stream stream) {
  constexpr UsualShape<Format> kShape;
  const auto singly = [&](std::size_t positions) {
    by_instruction<Format>(kShape, banks, rows, positions, stream);
    count -= positions;
  };
  if (has_nan(banks.acc, kShape.outputs) || has_nan(banks.exc, kShape.outputs))
    singly(std::min<std::size_t>(count, 1));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    while (blocks[i] != nullptr && count >= kBlockSizes[i]) {
      if (blocks[i](banks.acc, banks.exc, rows, stream.x, stream.partials, stream.out)) {
        stream.advance(kShape, kBlockSizes[i]);
        count -= kBlockSizes[i];
      } else {
        singly(kBlockSizes[i]);
      }
    }
  }
  singly(count);
}

template <class Format>
void positions(const AmpBlockSet& blocks, const AmpShape& shape, Banks& banks, const float* rows,
               std::size_t count, Stream stream) {
  if (shape.usual) return by_blocks<Format>(blocks, banks, rows, count, stream);
  by_instruction<Format>(shape, banks, rows, count, stream);
}

}  // namespace

std::uint64_t amp_h(const AmpShape& shape, Banks& banks, const float* rows, std::uint64_t x,
                    std::uint64_t partials, unsigned number) {
  return amp_of<FormatH>(shape, banks, rows, x, partials, number);
}
std::uint64_t amp_hs(const AmpShape& shape, Banks& banks, const float* rows, std::uint64_t x,
                     std::uint64_t partials, unsigned number) {
  return amp_of<FormatHs>(shape, banks, rows, x, partials, number);
}
std::uint64_t amp_s(const AmpShape& shape, Banks& banks, const float* rows, std::uint64_t x,
                    std::uint64_t partials, unsigned number) {
  return amp_of<FormatS>(shape, banks, rows, x, partials, number);
}

void amp_positions(const AmpShape& shape, Banks& banks, const float* rows, std::size_t count,
                   const std::byte* x, const std::byte* partials, std::byte* out) {
  static const AmpBlocks blocks = host_blocks();
  const Stream stream{x, partials, out};
  if (shape.kind == AmpKind::h)
    return positions<FormatH>(blocks.h, shape, banks, rows, count, stream);
  if (shape.kind == AmpKind::s)
    return positions<FormatS>(blocks.s, shape, banks, rows, count, stream);
  positions<FormatHs>(blocks.hs, shape, banks, rows, count, stream);
}

}  // namespace tessera::packed
