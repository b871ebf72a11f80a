#pragma once

#include <algorithm>
#include <bit>
#include <cstring>

#include "sim/isa/packed/matrix.h"
#include "sim/isa/packed/packed.h"

/// The three floating-point matrix instructions as shapes, and one plain implementation of all: the
/// definition that the SIMD versions fall back to when a NaN appears.
namespace tessera::packed {

struct ShapeH {
  static constexpr unsigned kInputs = 16;
  static constexpr unsigned kOutputs = 16;
  static constexpr unsigned kPhases = 4;

  static float input(std::uint64_t x, unsigned /*phase*/, unsigned i) {
    return std::bit_cast<float>(fp::f32_from_f16(lane_h(x, i)));
  }
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

/// f32 partials, two a word.
struct WidePartials {
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

struct ShapeHs : WidePartials {
  static constexpr unsigned kInputs = 16;
  static constexpr unsigned kOutputs = 8;
  static constexpr unsigned kPhases = 4;

  static float input(std::uint64_t x, unsigned phase, unsigned i) {
    return ShapeH::input(x, phase, i);
  }
};

struct ShapeS : WidePartials {
  static constexpr unsigned kInputs = 8;
  static constexpr unsigned kOutputs = 16;
  static constexpr unsigned kPhases = 8;

  static float input(std::uint64_t x, unsigned phase, unsigned /*i*/) {
    return std::bit_cast<float>(lane_s(x, phase & 1));
  }
};

template <class Shape>
constexpr unsigned kInputsAPhase = Shape::kInputs / Shape::kPhases;
template <class Shape>
constexpr unsigned kSlotsAPhase = Shape::kOutputs / Shape::kPhases;

/// acc[j] = fma(x[i], w[i][j], acc[j]) for the inputs of one phase.
template <class Shape>
void multiply_accumulate(float* acc, const float* rows, std::uint64_t x, unsigned phase) {
  for (unsigned i = 0; i < kInputsAPhase<Shape>; ++i) {
    const auto input = std::bit_cast<std::uint32_t>(Shape::input(x, phase, i));
    const float* row = rows + (phase * kInputsAPhase<Shape> + i) * Shape::kOutputs;
    for (unsigned j = 0; j < Shape::kOutputs; ++j) {
      acc[j] = std::bit_cast<float>(fp::f32_fma(input, std::bit_cast<std::uint32_t>(row[j]),
                                                std::bit_cast<std::uint32_t>(acc[j])));
    }
  }
}

/// Steps 1 to 3 of an instruction; returns its result.
template <class Shape>
std::uint64_t exchange_partials(float* acc, float* exc, std::uint64_t partials, unsigned imm5) {
  if ((imm5 & kAmpStart) != 0) std::swap_ranges(acc, acc + 16, exc);
  float* slots = exc + (imm5 & kAmpPhase) * kSlotsAPhase<Shape>;
  const std::uint64_t result = Shape::take_sums(slots);
  Shape::put_partials(slots, partials);
  return result;
}

/// One instruction.
template <class Shape>
std::uint64_t amp_plain(float* acc, float* exc, const float* rows, std::uint64_t x,
                        std::uint64_t partials, unsigned imm5) {
  const std::uint64_t result = exchange_partials<Shape>(acc, exc, partials, imm5);
  if ((imm5 & kAmpNoMac) == 0) {
    multiply_accumulate<Shape>(acc, rows, x, imm5 & kAmpPhase);
  }
  return result;
}

inline std::uint64_t load_word(const std::byte* from) {
  std::uint64_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

/// The phases of one position, by `Amp`, one instruction at a time.
template <class Shape, auto Amp>
void position(float* acc, float* exc, const float* rows, const std::byte* x,
              const std::byte* partials, std::byte* out) {
  constexpr unsigned kPhasesAWord = Shape::kPhases / 4;
  for (std::size_t p = 0; p < Shape::kPhases; ++p) {
    const std::uint64_t result =
        Amp(acc, exc, rows, load_word(x + 8 * (p / kPhasesAWord)), load_word(partials + 8 * p),
            static_cast<unsigned>(p) | (p == 0 ? kAmpStart : 0));
    std::memcpy(out + 8 * p, &result, sizeof result);
  }
}

}  // namespace tessera::packed
