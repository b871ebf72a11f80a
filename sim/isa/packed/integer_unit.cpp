#include "sim/isa/packed/integer_unit.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tessera::packed {
namespace {

constexpr std::size_t kChannels = IntegerUnit::kChannels;

// Vectors of the compiler, which any host has.
using Bytes [[gnu::vector_size(kChannels)]] = std::int8_t;
using Row [[gnu::vector_size(4 * kChannels)]] = std::uint32_t;

Row widened(std::uint64_t word) {
  const auto bytes = std::bit_cast<Bytes>(word);
  using SignedRow [[gnu::vector_size(4 * kChannels)]] = std::int32_t;
  return std::bit_cast<Row>(__builtin_convertvector(bytes, SignedRow));
}

std::int32_t shift_to_nearest_even(std::int32_t value, unsigned shift) {
  if (shift == 0) return value;
  const std::int64_t wide = value;
  const std::int64_t odd = wide >> shift & 1;
  return static_cast<std::int32_t>((wide + ((std::int64_t{1} << (shift - 1)) - 1) + odd) >> shift);
}

}  // namespace

void amp_b(IntegerUnit::Accumulator& sums, const IntegerUnit::Half& inputs,
           const IntegerUnit::Half* weights) {
  Row rows[kChannels];
  for (std::size_t k = 0; k < kChannels; ++k)
    rows[k] = widened(weights[k / IntegerUnit::kWords][k % IntegerUnit::kWords]);
  for (std::size_t position = 0; position < IntegerUnit::kPositions; ++position) {
    std::int32_t* const at = sums.data() + position * kChannels;
    Row row;
    std::memcpy(&row, at, sizeof row);
    const std::uint64_t word = inputs[position];
    for (std::size_t k = 0; k < kChannels; ++k) {
      const auto input = static_cast<std::int8_t>(word >> (8 * k));
      row += static_cast<std::uint32_t>(std::int32_t{input}) * rows[k];
    }
    std::memcpy(at, &row, sizeof row);
  }
}

IntegerUnit::Accumulator set_b(const IntegerUnit::Half& bias) {
  IntegerUnit::Accumulator sums;
  for (std::size_t position = 0; position < IntegerUnit::kPositions; ++position)
    std::memcpy(sums.data() + position * kChannels, bias.data(), sizeof bias);
  return sums;
}

IntegerUnit::Half requantised(const IntegerUnit::Accumulator& sums, std::uint32_t mode) {
  constexpr std::uint32_t kShift = 31;
  constexpr std::uint32_t kRelu = 32;
  const std::int32_t low = (mode & kRelu) != 0 ? 0 : INT8_MIN;
  std::array<std::uint8_t, IntegerUnit::kHalfBytes> bytes;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const std::int32_t rounded = shift_to_nearest_even(sums[i], mode & kShift);
    bytes[i] = static_cast<std::uint8_t>(std::clamp<std::int32_t>(rounded, low, INT8_MAX));
  }
  return std::bit_cast<IntegerUnit::Half>(bytes);
}

std::uint64_t max_8b(std::uint64_t a, std::uint64_t b) {
  const auto left = std::bit_cast<Bytes>(a);
  const auto right = std::bit_cast<Bytes>(b);
  const auto larger = std::bit_cast<std::uint64_t>(left > right);
  return (a & larger) | (b & ~larger);
}

}  // namespace tessera::packed
