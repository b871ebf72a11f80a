#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "sim/isa/packed/matrix.h"
#include "sim/isa/packed/packed.h"

/// The word formats of the three floating-point matrix instructions, for compile-time or run-time
/// shapes, and one plain implementation of all: the definition to which SIMD versions fall back on
/// NaNs.
namespace tessera::packed {

struct HalfInputs {
  static constexpr unsigned kInputsAWord = 4;
  static float input(std::uint64_t x, unsigned lane) {
    return std::bit_cast<float>(fp::f32_from_f16(lane_h(x, lane)));
  }
};

/// f32 partials, two per word.
struct WidePartials {
  static constexpr unsigned kSumsAWord = 2;
  static void put_partials(float* slots, std::uint64_t word) {
    word = portable::each_s(fp::canonical<fp::F32>, word);
    std::memcpy(slots, &word, sizeof word);
  }
  static std::uint64_t take_sums(const float* slots) {
    std::uint64_t word;
    std::memcpy(&word, slots, sizeof word);
    return portable::each_s(fp::canonical<fp::F32>, word);
  }
};

struct FormatH : HalfInputs {
  static constexpr AmpKind kKind = AmpKind::h;
  static constexpr unsigned kSumsAWord = 4;
  static void put_partials(float* slots, std::uint64_t word) {
    const std::uint64_t pairs[2] = {unpkl_2s(word), unpkh_2s(word)};
    std::memcpy(slots, pairs, sizeof pairs);
  }
  static std::uint64_t take_sums(const float* slots) {
    std::uint64_t pairs[2];
    std::memcpy(pairs, slots, sizeof pairs);
    return pack_4h(pairs[0], pairs[1]);
  }
};

struct FormatHs : HalfInputs, WidePartials {
  static constexpr AmpKind kKind = AmpKind::hs;
};

struct FormatS : WidePartials {
  static constexpr AmpKind kKind = AmpKind::s;
  static constexpr unsigned kInputsAWord = 2;
  static float input(std::uint64_t x, unsigned lane) {
    return std::bit_cast<float>(lane_s(x, lane));
  }
};

/// A compile-time shape with the members of AmpShape.
template <class Format, unsigned kInputs, unsigned kOutputs>
struct FixedShape {
  static constexpr AmpShape kShape{Format::kKind, kInputs, kOutputs};
  static constexpr unsigned inputs = kShape.inputs;
  static constexpr unsigned outputs = kShape.outputs;
  static constexpr unsigned x_words = kShape.x_words;
  static constexpr unsigned partial_words = kShape.partial_words;
  static constexpr unsigned phases = kShape.phases;
};

/// The shapes with SIMD blocks of positions.
template <class Format>
struct UsualShape;
template <>
struct UsualShape<FormatH> : FixedShape<FormatH, 16, 16> {};
template <>
struct UsualShape<FormatHs> : FixedShape<FormatHs, 16, 8> {};
template <>
struct UsualShape<FormatS> : FixedShape<FormatS, 8, 16> {};

/// The inputs of one phase: count, index of the first, and its lane in the word of x.
struct PhaseInputs {
  unsigned count, first, lane;
};
template <class Format, class Shape>
PhaseInputs phase_inputs(const Shape& shape, unsigned phase) {
  const unsigned count = shape.inputs / shape.phases;
  const unsigned first = phase * count;
  return {count, first, first % Format::kInputsAWord};
}

/// acc[j] = fma(x[i], w[i][j], acc[j]) for the inputs of one phase.
template <class Format, class Shape>
void multiply_accumulate(const Shape& shape, float* acc, const float* rows, std::uint64_t x,
                         unsigned phase) {
  const PhaseInputs inputs = phase_inputs<Format>(shape, phase);
  for (unsigned i = 0; i < inputs.count; ++i) {
    const auto input = std::bit_cast<std::uint32_t>(Format::input(x, inputs.lane + i));
    const float* row = rows + std::size_t{inputs.first + i} * shape.outputs;
    for (unsigned j = 0; j < shape.outputs; ++j) {
      acc[j] = std::bit_cast<float>(fp::f32_fma(input, std::bit_cast<std::uint32_t>(row[j]),
                                                std::bit_cast<std::uint32_t>(acc[j])));
    }
  }
}

/// Returns the results of the phase's word and replaces them with new partials.
template <class Format>
std::uint64_t exchange_partials(float* exc, std::uint64_t partials, unsigned phase) {
  float* slots = exc + std::size_t{phase} * Format::kSumsAWord;
  const std::uint64_t result = Format::take_sums(slots);
  Format::put_partials(slots, partials);
  return result;
}

/// Executes one instruction.
template <class Format, class Shape>
std::uint64_t amp_plain(const Shape& shape, Banks& banks, const float* rows, std::uint64_t x,
                        std::uint64_t partials, unsigned number) {
  if ((number & kAmpStart) != 0) std::swap(banks.acc, banks.exc);
  const unsigned phase = amp_phase(number);
  const bool moves = phase < shape.partial_words;
  const std::uint64_t result = moves ? exchange_partials<Format>(banks.exc, partials, phase) : 0;
  if ((number & kAmpNoMac) == 0) multiply_accumulate<Format>(shape, banks.acc, rows, x, phase);
  return result;
}

inline std::uint64_t load_word(const std::byte* from) {
  std::uint64_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

}  // namespace tessera::packed
