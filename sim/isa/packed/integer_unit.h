#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

/// The vector unit of a context: accumulators of 4 positions (int8: 8 outputs of i32, int16: 4 of
/// i64, bf16: 4 of f32), and vector registers of 64 bytes, as AI Engine 2 has them. Byte order as
/// in memory: lowest first. Source: AM020 (AIE-ML): 4x8 by 8x8 int8 a cycle, 4x4 by 4x4 int16, 4x8
/// by 8x4 bf16, 512-bit vectors, 1024-bit accumulators, shift with rounding and saturation on
/// stores. Within a bf16 sum each product and each sum is rounded as in IEEE 754.
namespace tessera::packed {

struct alignas(64) IntegerUnit {
  static constexpr unsigned kVectors = 12;
  static constexpr unsigned kAccumulators = 8;
  static constexpr unsigned kPositions = 4;
  static constexpr unsigned kChannels = 8;
  static constexpr unsigned kHalfBytes = kPositions * kChannels;
  static constexpr unsigned kWords = kHalfBytes / 8;  ///< 64-bit words of half a vector

  using Accumulator = std::array<std::int32_t, std::size_t{kPositions} * kChannels>;
  /// The accumulator's bytes as sums for int16 and, its first half, for bf16.
  static constexpr unsigned kShortOutputs = 4;
  using LongSums = std::array<std::int64_t, std::size_t{kPositions} * kShortOutputs>;
  using FloatSums = std::array<float, std::size_t{kPositions} * kShortOutputs>;
  using Half = std::array<std::uint64_t, kWords>;

  alignas(64) std::array<Half, std::size_t{2} * kVectors> halves{};
  alignas(64) std::array<Accumulator, kAccumulators> accumulators{};
  std::uint32_t mode = 0;  ///< bits 4:0 shift, bit 5 ReLU

  bool operator==(const IntegerUnit&) const = default;
};

/// sums[position][j] += inputs[position][k] * weights[k][j] over k, modulo 2^32.
void amp_b(IntegerUnit::Accumulator& sums, const IntegerUnit::Half& inputs,
           const IntegerUnit::Half* weights);
/// As amp_b with 4 int16 inputs a position and a 4x4 block, in LongSums, modulo 2^64.
void amp_i16(IntegerUnit::Accumulator& sums, const IntegerUnit::Half& inputs,
             const IntegerUnit::Half& weights);
/// As amp_b with 8 bf16 inputs a position and an 8x4 block, in FloatSums: each product is rounded
/// to f32, then added, input by input. NaN is canonical.
void amp_bf16(IntegerUnit::Accumulator& sums, const IntegerUnit::Half* inputs,
              const IntegerUnit::Half* weights);
/// Sums with the eight i32 of `bias` in each position.
IntegerUnit::Accumulator set_b(const IntegerUnit::Half& bias);
/// Sums shifted right by the mode, rounded to nearest even, saturated to int8; with ReLU to 0..127.
IntegerUnit::Half requantised(const IntegerUnit::Accumulator& sums, std::uint32_t mode);
/// As requantised(), from LongSums to int16.
IntegerUnit::Half requantised_i16(const IntegerUnit::Accumulator& sums, std::uint32_t mode);
/// FloatSums rounded to bf16, to nearest even; NaN is canonical. With ReLU negative values become
/// 0.
IntegerUnit::Half rounded_bf16(const IntegerUnit::Accumulator& sums, std::uint32_t mode);
/// Accumulators from results: 32 int8 or 16 int16, shifted left by the mode, or 16 bf16.
IntegerUnit::Accumulator sums_of_i8(const IntegerUnit::Half& results, std::uint32_t mode);
IntegerUnit::Accumulator sums_of_i16(const IntegerUnit::Half& results, std::uint32_t mode);
IntegerUnit::Accumulator sums_of_bf16(const IntegerUnit::Half& results);
/// The larger value of each lane: eight int8, four int16, four bf16 (-0 below +0, a number wins
/// over NaN).
std::uint64_t max_8b(std::uint64_t a, std::uint64_t b);
std::uint64_t max_i16(std::uint64_t a, std::uint64_t b);
std::uint64_t max_bf16(std::uint64_t a, std::uint64_t b);

}  // namespace tessera::packed
