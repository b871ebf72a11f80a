#pragma once

#include <cstdint>

/// Lanes of a 64-bit register: lane 0 is the lowest.
namespace tessera::packed {

constexpr std::uint16_t lane_h(std::uint64_t a, unsigned lane) {
  return static_cast<std::uint16_t>(a >> (16 * lane));
}
constexpr std::uint32_t lane_s(std::uint64_t a, unsigned lane) {
  return static_cast<std::uint32_t>(a >> (32 * lane));
}
constexpr std::uint64_t join_h(std::uint16_t l0, std::uint16_t l1, std::uint16_t l2,
                               std::uint16_t l3) {
  return std::uint64_t{l3} << 48 | std::uint64_t{l2} << 32 | std::uint64_t{l1} << 16 | l0;
}
constexpr std::uint64_t join_s(std::uint32_t l0, std::uint32_t l1) {
  return std::uint64_t{l1} << 32 | l0;
}

// Lane moves: no arithmetic, no flags, NaN payloads kept.

constexpr std::uint64_t splat_h(std::uint64_t a) { return (a & 0xffff) * 0x0001'0001'0001'0001U; }
constexpr std::uint64_t splat_s(std::uint64_t a) { return (a & 0xffff'ffff) * 0x1'0000'0001U; }
/// (mask & a) | (~mask & b)
constexpr std::uint64_t sel(std::uint64_t mask, std::uint64_t a, std::uint64_t b) {
  return (mask & a) | (~mask & b);
}
constexpr std::uint64_t zip_h_low(std::uint64_t a, std::uint64_t b) {
  return join_h(lane_h(a, 0), lane_h(b, 0), lane_h(a, 1), lane_h(b, 1));
}
constexpr std::uint64_t zip_h_high(std::uint64_t a, std::uint64_t b) {
  return zip_h_low(a >> 32, b >> 32);
}
constexpr std::uint64_t zip_s_low(std::uint64_t a, std::uint64_t b) {
  return join_s(lane_s(a, 0), lane_s(b, 0));
}
constexpr std::uint64_t zip_s_high(std::uint64_t a, std::uint64_t b) {
  return join_s(lane_s(a, 1), lane_s(b, 1));
}
/// Lane sums of 32-bit integers: no carry from the low lane to the high one.
constexpr std::uint64_t add_2w(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kTops = 0x8000'0000'8000'0000;
  return ((a & ~kTops) + (b & ~kTops)) ^ ((a ^ b) & kTops);
}
/// The sign bits of the two f32 lanes, for an integer register.
constexpr std::uint32_t mask_2s(std::uint64_t a) {
  return static_cast<std::uint32_t>((a >> 31 & 1) | (a >> 62 & 2));
}

}  // namespace tessera::packed
