#pragma once

#include <cstdint>
#include <optional>

#include "sim/isa/float/host_environment.h"
#include "sim/isa/float/quiet.h"
#include "sim/isa/float/soft.h"

/// The functions of fast.h for any host: software arithmetic whose flags are then raised in the
/// host's floating-point environment.
namespace tessera::fp::portable {

constexpr Rounding kNearest = Rounding::rne;

/// Calls operation(..., flags) and raises what it reports.
template <class Operation>
auto raising(Operation operation) {
  std::uint32_t flags = 0;
  const auto result = operation(flags);
  raise_flags(flags);
  return result;
}

inline std::uint32_t f32_add(std::uint32_t a, std::uint32_t b) {
  return raising([=](std::uint32_t& flags) { return soft::add<F32>(a, b, kNearest, flags); });
}
inline std::uint32_t f32_sub(std::uint32_t a, std::uint32_t b) {
  return raising([=](std::uint32_t& flags) { return soft::sub<F32>(a, b, kNearest, flags); });
}
inline std::uint32_t f32_mul(std::uint32_t a, std::uint32_t b) {
  return raising([=](std::uint32_t& flags) { return soft::mul<F32>(a, b, kNearest, flags); });
}
inline std::uint32_t f32_div(std::uint32_t a, std::uint32_t b) {
  return raising([=](std::uint32_t& flags) { return soft::div<F32>(a, b, kNearest, flags); });
}
inline std::uint32_t f32_sqrt(std::uint32_t a) {
  return raising([=](std::uint32_t& flags) { return soft::sqrt<F32>(a, kNearest, flags); });
}
inline std::uint32_t f32_fma(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return raising([=](std::uint32_t& flags) { return soft::fma<F32>(a, b, c, kNearest, flags); });
}
inline std::optional<std::uint32_t> f32_fma_number(std::uint32_t a, std::uint32_t b,
                                                   std::uint32_t c) {
  return f32_fma(a, b, c);
}
inline bool f32_eq(std::uint32_t a, std::uint32_t b) {
  return raising([=](std::uint32_t& flags) { return eq<F32>(a, b, flags); });
}
inline bool f32_lt(std::uint32_t a, std::uint32_t b) {
  return raising([=](std::uint32_t& flags) { return lt<F32>(a, b, flags); });
}
inline bool f32_le(std::uint32_t a, std::uint32_t b) {
  return raising([=](std::uint32_t& flags) { return le<F32>(a, b, flags); });
}
inline std::uint32_t f32_to_i32_rtz(std::uint32_t a) {
  return raising([=](std::uint32_t& flags) { return soft::to_i32<F32>(a, Rounding::rtz, flags); });
}
inline std::uint32_t f32_from_i32(std::uint32_t a) {
  return raising([=](std::uint32_t& flags) { return soft::from_i32<F32>(a, kNearest, flags); });
}
inline std::uint32_t f32_to_u32_rtz(std::uint32_t a) {
  return raising([=](std::uint32_t& flags) { return soft::to_u32<F32>(a, Rounding::rtz, flags); });
}
inline std::uint32_t f32_from_u32(std::uint32_t a) {
  return raising([=](std::uint32_t& flags) { return soft::from_u32<F32>(a, kNearest, flags); });
}
inline std::uint16_t f16_add(std::uint16_t a, std::uint16_t b) {
  return raising([=](std::uint32_t& flags) { return soft::add<F16>(a, b, kNearest, flags); });
}
inline std::uint16_t f16_sub(std::uint16_t a, std::uint16_t b) {
  return raising([=](std::uint32_t& flags) { return soft::sub<F16>(a, b, kNearest, flags); });
}
inline std::uint16_t f16_mul(std::uint16_t a, std::uint16_t b) {
  return raising([=](std::uint32_t& flags) { return soft::mul<F16>(a, b, kNearest, flags); });
}
inline std::uint16_t f16_div(std::uint16_t a, std::uint16_t b) {
  return raising([=](std::uint32_t& flags) { return soft::div<F16>(a, b, kNearest, flags); });
}
inline std::uint16_t f16_sqrt(std::uint16_t a) {
  return raising([=](std::uint32_t& flags) { return soft::sqrt<F16>(a, kNearest, flags); });
}
inline std::uint16_t f16_fma(std::uint16_t a, std::uint16_t b, std::uint16_t c) {
  return raising([=](std::uint32_t& flags) { return soft::fma<F16>(a, b, c, kNearest, flags); });
}
inline bool f16_eq(std::uint16_t a, std::uint16_t b) {
  return raising([=](std::uint32_t& flags) { return eq<F16>(a, b, flags); });
}
inline bool f16_lt(std::uint16_t a, std::uint16_t b) {
  return raising([=](std::uint32_t& flags) { return lt<F16>(a, b, flags); });
}
inline bool f16_le(std::uint16_t a, std::uint16_t b) {
  return raising([=](std::uint32_t& flags) { return le<F16>(a, b, flags); });
}
inline std::uint32_t f16_to_i32_rtz(std::uint16_t a) {
  return raising([=](std::uint32_t& flags) { return soft::to_i32<F16>(a, Rounding::rtz, flags); });
}
inline std::uint16_t f16_from_i32(std::uint32_t a) {
  return raising([=](std::uint32_t& flags) { return soft::from_i32<F16>(a, kNearest, flags); });
}
inline std::uint32_t f16_to_u32_rtz(std::uint16_t a) {
  return raising([=](std::uint32_t& flags) { return soft::to_u32<F16>(a, Rounding::rtz, flags); });
}
inline std::uint16_t f16_from_u32(std::uint32_t a) {
  return raising([=](std::uint32_t& flags) { return soft::from_u32<F16>(a, kNearest, flags); });
}
inline std::uint32_t f32_from_f16(std::uint16_t a) {
  return raising([=](std::uint32_t& flags) { return soft::convert<F32, F16>(a, kNearest, flags); });
}
inline std::uint16_t f16_from_f32(std::uint32_t a) {
  return raising([=](std::uint32_t& flags) { return soft::convert<F16, F32>(a, kNearest, flags); });
}

}  // namespace tessera::fp::portable
