#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

/// The int8 unit of a context: accumulators of 4 positions x 8 outputs of i32, and vector registers
/// of 64 bytes, as AI Engine 2 has them. Bytes stand as in memory: the lowest first.
/// Source: AM020 (AIE-ML): 4x8 by 8x8 int8 a cycle, 512-bit vectors, 1024-bit accumulators, shift
/// with rounding and saturation as they are stored.
namespace tessera::packed {

struct alignas(64) IntegerUnit {
  static constexpr unsigned kVectors = 12;
  static constexpr unsigned kAccumulators = 8;
  static constexpr unsigned kPositions = 4;
  static constexpr unsigned kChannels = 8;
  static constexpr unsigned kHalfBytes = kPositions * kChannels;
  static constexpr unsigned kWords = kHalfBytes / 8;  ///< of 64 bits, of half a vector

  using Accumulator = std::array<std::int32_t, std::size_t{kPositions} * kChannels>;
  using Half = std::array<std::uint64_t, kWords>;

  alignas(64) std::array<Half, std::size_t{2} * kVectors> halves{};
  alignas(64) std::array<Accumulator, kAccumulators> accumulators{};
  std::uint32_t mode = 0;  ///< bits 4:0 shift, bit 5 ReLU

  bool operator==(const IntegerUnit&) const = default;
};

/// sums[position][j] += inputs[position][k] * weights[k][j] over k, modulo 2^32.
void amp_b(IntegerUnit::Accumulator& sums, const IntegerUnit::Half& inputs,
           const IntegerUnit::Half* weights);
/// The eight i32 of `bias` for each position.
IntegerUnit::Accumulator set_b(const IntegerUnit::Half& bias);
/// Sums shifted right by the mode, rounded to nearest even, saturated to int8; with ReLU to 0..127.
IntegerUnit::Half requantised(const IntegerUnit::Accumulator& sums, std::uint32_t mode);
/// Eight signed bytes: the larger of each.
std::uint64_t max_8b(std::uint64_t a, std::uint64_t b);

}  // namespace tessera::packed
