#include <algorithm>
#include <cstring>

#include "sim/isa/packed/matrix.h"

namespace tessera::packed {

namespace {

constexpr unsigned kBank = 16;

/// Byte `lane`, sign-extended to the accumulators' width.
std::int32_t byte_of(std::uint64_t word, unsigned lane) {
  return static_cast<std::int8_t>(word >> (8 * lane));
}

std::int32_t shift_to_nearest_even(std::int32_t value, unsigned shift) {
  if (shift == 0) return value;
  const std::int64_t wide = value;
  const std::int64_t odd = wide >> shift & 1;
  return static_cast<std::int32_t>((wide + ((std::int64_t{1} << (shift - 1)) - 1) + odd) >> shift);
}

}  // namespace

void amp_b(const Banks& banks, const std::uint64_t* a, const std::uint64_t* block, bool clear) {
  std::uint32_t sums[4][8];
  std::memcpy(sums, banks.acc, sizeof sums / 2);
  std::memcpy(sums[2], banks.exc, sizeof sums / 2);
  if (clear) std::memset(sums, 0, sizeof sums);
  for (unsigned row = 0; row < 4; ++row) {
    for (unsigned k = 0; k < 8; ++k) {
      const std::int32_t input = byte_of(a[row], k);
      for (unsigned j = 0; j < 8; ++j) {
        sums[row][j] += static_cast<std::uint32_t>(input * byte_of(block[k], j));
      }
    }
  }
  std::memcpy(banks.acc, sums, sizeof sums / 2);
  std::memcpy(banks.exc, sums[2], sizeof sums / 2);
}

std::uint64_t srs_b(const Banks& banks, unsigned group, unsigned shift) {
  const float* bank = group < 2 ? banks.acc : banks.exc;
  std::int32_t sums[8];
  std::memcpy(sums, bank + (group % 2 == 0 ? 0 : kBank / 2), sizeof sums);
  std::uint64_t result = 0;
  for (unsigned j = 0; j < 8; ++j) {
    const std::int32_t rounded = shift_to_nearest_even(sums[j], shift);
    const std::int32_t saturated = std::clamp(rounded, INT8_MIN, INT8_MAX);
    result |= std::uint64_t{static_cast<std::uint8_t>(saturated)} << (8 * j);
  }
  return result;
}

}  // namespace tessera::packed
