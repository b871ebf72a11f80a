#include "sim/isa/packed/integer_unit.h"

#include <algorithm>
#include <bit>
#include <cstring>

#ifdef __SSE__
#include <immintrin.h>
#else
#include <cfenv>
#endif

namespace tessera::packed {
namespace {

constexpr std::size_t kChannels = IntegerUnit::kChannels;
constexpr std::size_t kShortOutputs = IntegerUnit::kShortOutputs;

// Compiler vector types, available on any host.
using Bytes [[gnu::vector_size(kChannels)]] = std::int8_t;
using Row [[gnu::vector_size(4 * kChannels)]] = std::uint32_t;

Row widened(std::uint64_t word) {
  const auto bytes = std::bit_cast<Bytes>(word);
  using SignedRow [[gnu::vector_size(4 * kChannels)]] = std::int32_t;
  return std::bit_cast<Row>(__builtin_convertvector(bytes, SignedRow));
}

using Shorts [[gnu::vector_size(2 * kShortOutputs)]] = std::int16_t;
using Longs [[gnu::vector_size(8 * kShortOutputs)]] = std::uint64_t;
using Floats [[gnu::vector_size(4 * kShortOutputs)]] = float;
using Words [[gnu::vector_size(4 * kShortOutputs)]] = std::uint32_t;

constexpr unsigned kBrainBits = 16;   // of a bf16
constexpr std::uint32_t kShift = 31;  // of a mode
constexpr std::uint32_t kRelu = 32;

/// Shifts right with rounding to nearest even.
std::int64_t shift_to_nearest_even(std::int64_t value, unsigned shift) {
  if (shift == 0) return value;
  const std::int64_t whole = value >> shift;
  const std::int64_t rest =
      value - static_cast<std::int64_t>(static_cast<std::uint64_t>(whole) << shift);
  const std::int64_t half = std::int64_t{1} << (shift - 1);
  return whole + (rest > half || (rest == half && (whole & 1) != 0) ? 1 : 0);
}

Longs widened_shorts(std::uint64_t word) {
  using SignedLongs [[gnu::vector_size(8 * kShortOutputs)]] = std::int64_t;
  return std::bit_cast<Longs>(__builtin_convertvector(std::bit_cast<Shorts>(word), SignedLongs));
}

float bf16_of(std::uint64_t word, std::size_t lane) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(word >> (kBrainBits * lane))
                              << kBrainBits);
}

/// Preserves the host's sticky flags, which represent the base ISA's fflags.
class KeptFlags {
 public:
#ifdef __SSE__
  KeptFlags() : flags_(_mm_getcsr()) {}
  ~KeptFlags() { _mm_setcsr(flags_); }
#else
  KeptFlags() { std::fegetexceptflag(&flags_, FE_ALL_EXCEPT); }
  ~KeptFlags() { std::fesetexceptflag(&flags_, FE_ALL_EXCEPT); }
#endif
  KeptFlags(const KeptFlags&) = delete;
  KeptFlags& operator=(const KeptFlags&) = delete;

 private:
#ifdef __SSE__
  unsigned flags_;
#else
  std::fexcept_t flags_{};
#endif
};

/// Widens four packed bf16.
Floats widened_bf16(std::uint64_t word) {
  using Halves [[gnu::vector_size(2 * kShortOutputs)]] = std::uint16_t;
  return std::bit_cast<Floats>(__builtin_convertvector(std::bit_cast<Halves>(word), Words) << 16);
}

/// The larger value of each lane of `Lanes`.
template <class Lanes>
std::uint64_t larger(std::uint64_t a, std::uint64_t b) {
  const auto first =
      std::bit_cast<std::uint64_t>(std::bit_cast<Lanes>(a) > std::bit_cast<Lanes>(b));
  return (a & first) | (b & ~first);
}

/// Compares as integers, which order like the numbers: no flags.
std::uint16_t larger_bf16(std::uint16_t a, std::uint16_t b) {
  constexpr std::uint16_t kSize = 0x7fff;
  constexpr std::uint16_t kInfinity = 0x7f80;
  constexpr std::uint16_t kNan = 0x7fc0;
  const bool a_nan = (a & kSize) > kInfinity, b_nan = (b & kSize) > kInfinity;
  if (a_nan || b_nan) return a_nan && b_nan ? kNan : a_nan ? b : a;
  const auto order = [](std::uint16_t bits) {
    const auto number = static_cast<std::int16_t>(bits);
    return number < 0 ? number ^ kSize : number;
  };
  return order(a) > order(b) ? a : b;
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

void amp_i16(IntegerUnit::Accumulator& sums, const IntegerUnit::Half& inputs,
             const IntegerUnit::Half& weights) {
  Longs rows[kShortOutputs];
  for (std::size_t k = 0; k < kShortOutputs; ++k) rows[k] = widened_shorts(weights[k]);
  auto* const bytes = reinterpret_cast<std::byte*>(sums.data());
  for (std::size_t position = 0; position < IntegerUnit::kPositions; ++position) {
    Longs row;
    std::memcpy(&row, bytes + position * sizeof row, sizeof row);
    for (std::size_t k = 0; k < kShortOutputs; ++k) {
      const auto input = static_cast<std::int16_t>(inputs[position] >> (16 * k));
      row += static_cast<std::uint64_t>(std::int64_t{input}) * rows[k];
    }
    std::memcpy(bytes + position * sizeof row, &row, sizeof row);
  }
}

void amp_bf16(IntegerUnit::Accumulator& sums, const IntegerUnit::Half* inputs,
              const IntegerUnit::Half* weights) {
  constexpr std::size_t kInputs = 8;
  constexpr std::uint32_t kNan = 0x7fc0'0000;
  const KeptFlags kept;
  Floats rows[kInputs];
  for (std::size_t k = 0; k < kInputs; ++k)
    rows[k] = widened_bf16(weights[k / IntegerUnit::kWords][k % IntegerUnit::kWords]);
  for (std::size_t position = 0; position < IntegerUnit::kPositions; ++position) {
    const IntegerUnit::Half& half = inputs[position / 2];
    Floats row;
    std::int32_t* const at = sums.data() + position * kShortOutputs;
    std::memcpy(&row, at, sizeof row);
    for (std::size_t k = 0; k < kInputs; ++k)
      row += bf16_of(half[position % 2 * 2 + k / 4], k % 4) * rows[k];
    const auto good = std::bit_cast<Words>(row == row);
    const Words bits = (std::bit_cast<Words>(row) & good) | (kNan & ~good);
    std::memcpy(at, &bits, sizeof bits);
  }
}

IntegerUnit::Accumulator set_b(const IntegerUnit::Half& bias) {
  IntegerUnit::Accumulator sums;
  for (std::size_t position = 0; position < IntegerUnit::kPositions; ++position)
    std::memcpy(sums.data() + position * kChannels, bias.data(), sizeof bias);
  return sums;
}

IntegerUnit::Half requantised(const IntegerUnit::Accumulator& sums, std::uint32_t mode) {
  const std::int64_t low = (mode & kRelu) != 0 ? 0 : INT8_MIN;
  std::array<std::uint8_t, IntegerUnit::kHalfBytes> bytes;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const std::int64_t rounded = shift_to_nearest_even(sums[i], mode & kShift);
    bytes[i] = static_cast<std::uint8_t>(std::clamp<std::int64_t>(rounded, low, INT8_MAX));
  }
  return std::bit_cast<IntegerUnit::Half>(bytes);
}

IntegerUnit::Half requantised_i16(const IntegerUnit::Accumulator& sums, std::uint32_t mode) {
  const auto longs = std::bit_cast<IntegerUnit::LongSums>(sums);
  const std::int64_t low = (mode & kRelu) != 0 ? 0 : INT16_MIN;
  std::array<std::int16_t, std::tuple_size_v<IntegerUnit::LongSums>> shorts;
  for (std::size_t i = 0; i < longs.size(); ++i)
    shorts[i] = static_cast<std::int16_t>(
        std::clamp<std::int64_t>(shift_to_nearest_even(longs[i], mode & kShift), low, INT16_MAX));
  return std::bit_cast<IntegerUnit::Half>(shorts);
}

IntegerUnit::Half rounded_bf16(const IntegerUnit::Accumulator& sums, std::uint32_t mode) {
  constexpr std::uint32_t kHalf = 0x7fff;
  constexpr std::uint32_t kSign = 0x8000'0000;
  constexpr std::uint32_t kInfinity = 0x7f80'0000;
  constexpr std::uint16_t kNan = 0x7fc0;
  std::array<std::uint16_t, std::tuple_size_v<IntegerUnit::FloatSums>> halves;
  for (std::size_t i = 0; i < halves.size(); ++i) {
    const auto bits = static_cast<std::uint32_t>(sums[i]);
    const std::uint32_t size = bits & ~kSign;  // compared as integers: no flags
    const bool cut = (mode & kRelu) != 0 && size != bits && size != 0;
    halves[i] = size > kInfinity ? kNan
                : cut            ? std::uint16_t{0}
                      : static_cast<std::uint16_t>((bits + kHalf + (bits >> 16 & 1)) >> 16);
  }
  return std::bit_cast<IntegerUnit::Half>(halves);
}

IntegerUnit::Accumulator sums_of_i8(const IntegerUnit::Half& results, std::uint32_t mode) {
  const auto bytes = std::bit_cast<std::array<std::int8_t, IntegerUnit::kHalfBytes>>(results);
  IntegerUnit::Accumulator sums;
  for (std::size_t i = 0; i < sums.size(); ++i)
    sums[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(std::int32_t{bytes[i]})
                                        << (mode & kShift));
  return sums;
}

IntegerUnit::Accumulator sums_of_i16(const IntegerUnit::Half& results, std::uint32_t mode) {
  IntegerUnit::LongSums sums;
  const auto shorts = std::bit_cast<std::array<std::int16_t, sums.size()>>(results);
  for (std::size_t i = 0; i < sums.size(); ++i)
    sums[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(std::int64_t{shorts[i]})
                                        << (mode & kShift));
  return std::bit_cast<IntegerUnit::Accumulator>(sums);
}

IntegerUnit::Accumulator sums_of_bf16(const IntegerUnit::Half& results) {
  IntegerUnit::Accumulator sums{};
  for (std::size_t i = 0; i < std::tuple_size_v<IntegerUnit::FloatSums>; ++i)
    sums[i] = std::bit_cast<std::int32_t>(bf16_of(results[i / 4], i % 4));
  return sums;
}

std::uint64_t max_8b(std::uint64_t a, std::uint64_t b) { return larger<Bytes>(a, b); }

std::uint64_t max_i16(std::uint64_t a, std::uint64_t b) { return larger<Shorts>(a, b); }

std::uint64_t max_bf16(std::uint64_t a, std::uint64_t b) {
  std::uint64_t maxima = 0;
  for (unsigned at = 0; at < 64; at += kBrainBits)
    maxima |= std::uint64_t{larger_bf16(static_cast<std::uint16_t>(a >> at),
                                        static_cast<std::uint16_t>(b >> at))}
              << at;
  return maxima;
}

}  // namespace tessera::packed
