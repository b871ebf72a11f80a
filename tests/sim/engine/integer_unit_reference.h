#pragma once

#include "tests/sim/engine/xtile_reference.h"

/// The int8 unit as the ISA page specifies it, one byte at a time.
namespace tessera::engine::test::reference {

inline int signed_byte(const Plain& s, std::size_t at) {
  return static_cast<std::int8_t>(s.vectors[at]);
}
inline void multiply_bytes(Plain& s, I i) {
  for (unsigned at = 0; at < 32; ++at) {
    std::uint32_t sum = static_cast<std::uint32_t>(s.sums[32U * i.rd + at]);
    for (unsigned k = 0; k < 8; ++k) {
      const int x = signed_byte(s, 32U * i.rs1 + at / 8 * 8 + k);
      sum += static_cast<std::uint32_t>(x * signed_byte(s, 64U * i.rs2 + 8 * k + at % 8));
    }
    s.sums[32U * i.rd + at] = static_cast<std::int32_t>(sum);
  }
}
inline void set_sums(Plain& s, I i) {
  for (unsigned at = 0; at < 32; ++at)
    std::memcpy(&s.sums[32U * i.rd + at], &s.vectors[32U * i.rs1 + 4 * (at % 8)], 4);
}
inline void larger_bytes(Plain& s, I i) {
  for (unsigned at = 0; at < 64; ++at) {
    const int a = signed_byte(s, 64U * i.rs1 + at), b = signed_byte(s, 64U * i.rs2 + at);
    s.vectors[64U * i.rd + at] = static_cast<std::uint8_t>(std::max(a, b));
  }
}

inline int signed_short(const Plain& s, std::size_t at) {
  return static_cast<std::int16_t>(s.vectors[at] | s.vectors[at + 1] << 8);
}
inline std::uint32_t brain(const Plain& s, std::size_t at) {
  return static_cast<std::uint32_t>(s.vectors[at] | s.vectors[at + 1] << 8) << 16;
}
/// The larger of two int16 lanes; larger_brain(): of two bf16 lanes.
inline int larger_short(const Plain& s, std::size_t a, std::size_t b) {
  return std::max(signed_short(s, a), signed_short(s, b));
}
inline int larger_brain(const Plain& s, std::size_t a, std::size_t b) {
  return static_cast<int>(max_of<F32>(brain(s, a), brain(s, b)).bits >> 16);
}
template <auto kLarger>
void larger_lanes(Plain& s, I i) {
  for (unsigned at = 0; at < 64; at += 2) {
    const int lane = kLarger(s, 64U * i.rs1 + at, 64U * i.rs2 + at);
    s.vectors[64U * i.rd + at] = static_cast<std::uint8_t>(lane);
    s.vectors[64U * i.rd + at + 1] = static_cast<std::uint8_t>(lane >> 8);
  }
}

inline std::vector<std::uint8_t> load_bytes(Plain& s, std::uint32_t from, unsigned count) {
  std::vector<std::uint8_t> bytes(count);
  for (unsigned at = 0; at < count; at += 8) {
    const auto word = s.load<std::uint64_t>(from + at);
    std::memcpy(bytes.data() + at, &word, 8);
  }
  return bytes;
}
/// Stores `count` bytes in words of 8.
inline void store_bytes(Plain& s, std::uint32_t to, const std::uint8_t* bytes, unsigned count) {
  for (unsigned at = 0; at < count; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes + at, 8);
    s.store(to + at, word);
  }
}
/// Advances each pointer by rs3's value before the instruction; returns the new addresses.
inline std::vector<std::uint32_t> advance_by_step(Plain& s, std::initializer_list<std::uint8_t> all,
                                                  I i) {
  const std::uint32_t step = s.x[i.rs3];
  std::vector<std::uint32_t> addresses;
  for (const std::uint8_t pointer : all) {
    addresses.push_back(s.x[pointer] + step);
    s.advance(pointer, step);
  }
  return addresses;
}

template <unsigned kBytes>
void load_vector(Plain& s, I i) {
  const auto bytes = load_bytes(s, s.x[i.rs1], kBytes);
  std::copy(bytes.begin(), bytes.end(), &s.vectors[std::size_t{kBytes} * i.rd]);
  s.advance(i.rs1, kBytes);
}
template <unsigned kBytes>
void load_parts(Plain& s, I i) {
  const auto from = advance_by_step(s, {i.rs1, i.rs2}, i);
  const auto low = load_bytes(s, from[0], kBytes), high = load_bytes(s, from[1], kBytes);
  std::uint8_t* const to = &s.vectors[std::size_t{2} * kBytes * i.rd];
  std::copy(high.begin(), high.end(), std::copy(low.begin(), low.end(), to));
}
template <unsigned kBytes>
void load_in_turns(Plain& s, I i) {
  const std::uint32_t behind = s.x[i.rs2];
  const std::uint32_t from = advance_by_step(s, {i.rs1}, i)[0];
  const auto low = load_bytes(s, from, kBytes), high = load_bytes(s, from + behind, kBytes);
  for (unsigned at = 0; at < 2 * kBytes; ++at)
    s.vectors[2U * kBytes * i.rd + at] = (at / 8 % 2 == 0 ? low : high)[at / 16 * 8 + at % 8];
}
inline void load_sums(Plain& s, I i) {
  const auto bytes = load_bytes(s, s.x[i.rs1], 128);
  std::memcpy(&s.sums[std::size_t{32} * i.rd], bytes.data(), 128);
  s.advance(i.rs1, 128);
}
inline void store_sums(Plain& s, I i) {
  std::uint8_t bytes[128];
  std::memcpy(bytes, &s.sums[std::size_t{32} * i.rd], 128);
  store_bytes(s, s.x[i.rs1], bytes, 128);
  s.advance(i.rs1, 128);
}

/// The bytes of an accumulator, rounded to nearest with ties to even, by integer division.
inline std::vector<std::uint8_t> rounded_sums(const Plain& s, unsigned number) {
  const std::int64_t unit = std::int64_t{1} << (s.mode & 31U);
  const int low = (s.mode & 32U) != 0 ? 0 : -128;
  std::vector<std::uint8_t> bytes(32);
  for (unsigned at = 0; at < 32; ++at) {
    const std::int64_t sum = s.sums[32 * number + at];
    std::int64_t whole = sum / unit;  // truncated; adjusted below to nearest, ties to even
    if (sum % unit < 0) --whole;
    const std::int64_t rest = 2 * (sum - whole * unit);
    if (rest > unit || (rest == unit && whole % 2 != 0)) ++whole;
    bytes[at] = static_cast<std::uint8_t>(std::clamp<std::int64_t>(whole, low, 127));
  }
  return bytes;
}
/// A 64-bit sum, stored in place of two 32-bit sums.
inline std::int64_t long_sum(const Plain& s, unsigned number, unsigned at) {
  std::int64_t sum;
  std::memcpy(&sum, &s.sums[32U * number + 2 * at], 8);
  return sum;
}
inline void set_long_sum(Plain& s, unsigned number, unsigned at, std::int64_t sum) {
  std::memcpy(&s.sums[32U * number + 2 * at], &sum, 8);
}
inline void multiply_shorts(Plain& s, I i) {
  for (unsigned at = 0; at < 16; ++at) {
    auto sum = static_cast<std::uint64_t>(long_sum(s, i.rd, at));
    for (unsigned k = 0; k < 4; ++k) {
      const std::int64_t x = signed_short(s, 32U * i.rs1 + 2 * (at / 4 * 4 + k));
      sum += static_cast<std::uint64_t>(x * signed_short(s, 32U * i.rs2 + 2 * (4 * k + at % 4)));
    }
    set_long_sum(s, i.rd, at, static_cast<std::int64_t>(sum));
  }
}
inline void multiply_brain(Plain& s, I i) {
  for (unsigned at = 0; at < 16; ++at) {
    auto sum = static_cast<std::uint32_t>(s.sums[32U * i.rd + at]);
    for (unsigned k = 0; k < 8; ++k) {
      const std::uint32_t product = mul_of<F32>(brain(s, 64U * i.rs1 + 2 * (at / 4 * 8 + k)),
                                                brain(s, 64U * i.rs2 + 2 * (4 * k + at % 4)))
                                        .bits;
      sum = add_of<F32>(sum, product).bits;
    }
    s.sums[32U * i.rd + at] = static_cast<std::int32_t>(sum);
  }
}
template <unsigned kBytes>
void load_results(Plain& s, I i) {
  const auto bytes = load_bytes(s, s.x[i.rs1], 32);
  for (std::size_t at = 0; at < 32 / kBytes; ++at) {
    if constexpr (kBytes == 1) {
      const auto value =
          static_cast<std::uint32_t>(std::int32_t{static_cast<std::int8_t>(bytes[at])});
      s.sums[std::size_t{32} * i.rd + at] = static_cast<std::int32_t>(value << (s.mode & 31U));
    } else {
      const auto value = static_cast<std::int16_t>(bytes[2 * at] | bytes[2 * at + 1] << 8);
      set_long_sum(s, i.rd, static_cast<unsigned>(at),
                   std::int64_t{value} * (std::int64_t{1} << (s.mode & 31U)));
    }
  }
  s.advance(i.rs1, 32);
}
inline void load_brain(Plain& s, I i) {
  const auto bytes = load_bytes(s, s.x[i.rs1], 32);
  for (std::size_t at = 0; at < 16; ++at) {
    const auto bits = static_cast<std::uint32_t>(bytes[2 * at] | bytes[2 * at + 1] << 8) << 16;
    s.sums[std::size_t{32} * i.rd + at] = static_cast<std::int32_t>(bits);
    s.sums[32U * i.rd + 16 + at] = 0;
  }
  s.advance(i.rs1, 32);
}
inline std::vector<std::uint8_t> rounded_shorts(const Plain& s, unsigned number) {
  const std::int64_t unit = std::int64_t{1} << (s.mode & 31U);
  const int low = (s.mode & 32U) != 0 ? 0 : -32768;
  std::vector<std::uint8_t> bytes(32);
  for (std::size_t at = 0; at < 16; ++at) {
    const std::int64_t sum = long_sum(s, number, static_cast<unsigned>(at));
    std::int64_t whole = sum / unit;
    std::int64_t rest = sum % unit;
    if (rest < 0) {
      --whole;
      rest += unit;
    }
    if (rest > unit - rest || (rest == unit - rest && whole % 2 != 0)) ++whole;
    const std::int64_t result = std::clamp<std::int64_t>(whole, low, 32767);
    bytes[2 * at] = static_cast<std::uint8_t>(result);
    bytes[2 * at + 1] = static_cast<std::uint8_t>(result >> 8);
  }
  return bytes;
}
inline std::vector<std::uint8_t> rounded_brain(const Plain& s, unsigned number) {
  std::vector<std::uint8_t> bytes(32);
  for (std::size_t at = 0; at < 16; ++at) {
    const auto sum = static_cast<std::uint32_t>(s.sums[std::size_t{32} * number + at]);
    std::uint32_t high = sum >> 16;
    const std::uint32_t low = sum & 0xffffU;
    if (low > 0x8000U || (low == 0x8000U && high % 2 != 0)) ++high;
    if ((s.mode & 32U) != 0 && sum >> 31 != 0 && (sum & 0x7fffffffU) != 0) high = 0;
    if ((sum & 0x7fffffffU) > 0x7f800000U) high = 0x7fc0;
    bytes[2 * at] = static_cast<std::uint8_t>(high);
    bytes[2 * at + 1] = static_cast<std::uint8_t>(high >> 8);
  }
  return bytes;
}
template <auto kRounded>
void store_rounded(Plain& s, I i) {
  const std::vector<std::uint8_t> bytes = kRounded(s, i.rd);
  store_bytes(s, advance_by_step(s, {i.rs1}, i)[0], bytes.data(), 32);
}
template <auto kRounded>
void take_rounded(Plain& s, I i) {
  const std::vector<std::uint8_t> bytes = kRounded(s, i.rs1);
  std::copy(bytes.begin(), bytes.end(), &s.vectors[std::size_t{32} * i.rd]);
}
inline std::vector<std::uint8_t> stored(const Plain& s, bool rounds, unsigned number) {
  if (rounds) return rounded_sums(s, number);
  const std::uint8_t* const half = &s.vectors[std::size_t{32} * number];
  return {half, half + 32};
}
template <bool kRounds>
void store_whole(Plain& s, I i) {
  store_bytes(s, advance_by_step(s, {i.rs1}, i)[0], stored(s, kRounds, i.rd).data(), 32);
}
template <bool kRounds>
void store_halves(Plain& s, I i) {
  const auto bytes = stored(s, kRounds, i.rd);
  const auto to = advance_by_step(s, {i.rs1, i.rs2}, i);
  store_bytes(s, to[0], bytes.data(), 16);
  store_bytes(s, to[1], bytes.data() + 16, 16);
}

}  // namespace tessera::engine::test::reference
