#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "sim/engine/hart.h"
#include "sim/isa/float/fast.h"
#include "sim/isa/float/quiet.h"
#include "sim/isa/float/soft.h"

/// Rounded arithmetic for both formats: on the host if the hart's mode allows it, else in software.
/// Operands and results are bit patterns without boxes.
namespace tessera::engine::arithmetic {

using fp::Bits;
using fp::F16;
using fp::F32;

// The host's operations, by format.
namespace host {
// clang-format off
inline std::uint32_t add(F32, std::uint32_t a, std::uint32_t b) { return fp::f32_add(a, b); }
inline std::uint16_t add(F16, std::uint16_t a, std::uint16_t b) { return fp::f16_add(a, b); }
inline std::uint32_t sub(F32, std::uint32_t a, std::uint32_t b) { return fp::f32_sub(a, b); }
inline std::uint16_t sub(F16, std::uint16_t a, std::uint16_t b) { return fp::f16_sub(a, b); }
inline std::uint32_t mul(F32, std::uint32_t a, std::uint32_t b) { return fp::f32_mul(a, b); }
inline std::uint16_t mul(F16, std::uint16_t a, std::uint16_t b) { return fp::f16_mul(a, b); }
inline std::uint32_t div(F32, std::uint32_t a, std::uint32_t b) { return fp::f32_div(a, b); }
inline std::uint16_t div(F16, std::uint16_t a, std::uint16_t b) { return fp::f16_div(a, b); }
inline std::uint32_t sqrt(F32, std::uint32_t a) { return fp::f32_sqrt(a); }
inline std::uint16_t sqrt(F16, std::uint16_t a) { return fp::f16_sqrt(a); }
inline std::uint32_t fma(F32, std::uint32_t a, std::uint32_t b, std::uint32_t c) { return fp::f32_fma(a, b, c); }
inline std::uint16_t fma(F16, std::uint16_t a, std::uint16_t b, std::uint16_t c) { return fp::f16_fma(a, b, c); }
inline bool eq(F32, std::uint32_t a, std::uint32_t b) { return fp::f32_eq(a, b); }
inline bool eq(F16, std::uint16_t a, std::uint16_t b) { return fp::f16_eq(a, b); }
inline bool lt(F32, std::uint32_t a, std::uint32_t b) { return fp::f32_lt(a, b); }
inline bool lt(F16, std::uint16_t a, std::uint16_t b) { return fp::f16_lt(a, b); }
inline bool le(F32, std::uint32_t a, std::uint32_t b) { return fp::f32_le(a, b); }
inline bool le(F16, std::uint16_t a, std::uint16_t b) { return fp::f16_le(a, b); }
inline std::uint32_t to_i32(F32, std::uint32_t a) { return fp::f32_to_i32_rtz(a); }
inline std::uint32_t to_i32(F16, std::uint16_t a) { return fp::f16_to_i32_rtz(a); }
inline std::uint32_t to_u32(F32, std::uint32_t a) { return fp::f32_to_u32_rtz(a); }
inline std::uint32_t to_u32(F16, std::uint16_t a) { return fp::f16_to_u32_rtz(a); }
inline std::uint32_t from_i32(F32, std::uint32_t a) { return fp::f32_from_i32(a); }
inline std::uint16_t from_i32(F16, std::uint32_t a) { return fp::f16_from_i32(a); }
inline std::uint32_t from_u32(F32, std::uint32_t a) { return fp::f32_from_u32(a); }
inline std::uint16_t from_u32(F16, std::uint32_t a) { return fp::f16_from_u32(a); }
// clang-format on
}  // namespace host

// Comparisons round nothing.
template <class F>
bool eq(Bits<F> a, Bits<F> b) {
  return host::eq(F{}, a, b);
}
template <class F>
bool lt(Bits<F> a, Bits<F> b) {
  return host::lt(F{}, a, b);
}
template <class F>
bool le(Bits<F> a, Bits<F> b) {
  return host::le(F{}, a, b);
}

template <class H>
constexpr bool kHost = H::Mode::kHostRounding;

template <class F, class H>
Bits<F> add(H& h, Bits<F> a, Bits<F> b) {
  if constexpr (kHost<H>) return host::add(F{}, a, b);
  return fp::soft::add<F>(a, b, h.rounding(), h.flags());
}
template <class F, class H>
Bits<F> sub(H& h, Bits<F> a, Bits<F> b) {
  if constexpr (kHost<H>) return host::sub(F{}, a, b);
  return fp::soft::sub<F>(a, b, h.rounding(), h.flags());
}
template <class F, class H>
Bits<F> mul(H& h, Bits<F> a, Bits<F> b) {
  if constexpr (kHost<H>) return host::mul(F{}, a, b);
  return fp::soft::mul<F>(a, b, h.rounding(), h.flags());
}
template <class F, class H>
Bits<F> div(H& h, Bits<F> a, Bits<F> b) {
  if constexpr (kHost<H>) return host::div(F{}, a, b);
  return fp::soft::div<F>(a, b, h.rounding(), h.flags());
}
template <class F, class H>
Bits<F> sqrt(H& h, Bits<F> a) {
  if constexpr (kHost<H>) return host::sqrt(F{}, a);
  return fp::soft::sqrt<F>(a, h.rounding(), h.flags());
}
template <class F, class H>
Bits<F> fma(H& h, Bits<F> a, Bits<F> b, Bits<F> c) {
  if constexpr (kHost<H> && H::Mode::kQuick && std::is_same_v<F, F32>) {
    const std::optional<Bits<F>> sum = fp::f32_fma_number(a, b, c);
    if (!sum) [[unlikely]]
      h.give_up();
    return sum.value_or(0);
  }
  if constexpr (kHost<H>) return host::fma(F{}, a, b, c);
  return fp::soft::fma<F>(a, b, c, h.rounding(), h.flags());
}
/// Host mode rounds toward zero here, as compiled code requests.
template <class F, class H>
std::uint32_t to_i32(H& h, Bits<F> a) {
  if constexpr (kHost<H>) return host::to_i32(F{}, a);
  return fp::soft::to_i32<F>(a, h.rounding(), h.flags());
}
template <class F, class H>
std::uint32_t to_u32(H& h, Bits<F> a) {
  if constexpr (kHost<H>) return host::to_u32(F{}, a);
  return fp::soft::to_u32<F>(a, h.rounding(), h.flags());
}
template <class F, class H>
Bits<F> from_i32(H& h, std::uint32_t a) {
  if constexpr (kHost<H>) return host::from_i32(F{}, a);
  return fp::soft::from_i32<F>(a, h.rounding(), h.flags());
}
template <class F, class H>
Bits<F> from_u32(H& h, std::uint32_t a) {
  if constexpr (kHost<H>) return host::from_u32(F{}, a);
  return fp::soft::from_u32<F>(a, h.rounding(), h.flags());
}
template <class H>
std::uint16_t narrow(H& h, std::uint32_t a) {
  if constexpr (kHost<H>) return fp::f16_from_f32(a);
  return fp::soft::convert<F16, F32>(a, h.rounding(), h.flags());
}

}  // namespace tessera::engine::arithmetic
