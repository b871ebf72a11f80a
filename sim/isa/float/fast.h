#pragma once

#include "sim/isa/float/host_environment.h"

#if TESSERA_HOST_FLOAT
#include "sim/isa/float/fast_x86.h"
#else
#include "sim/isa/float/fast_portable.h"
#endif

/// The hot operations on bit patterns: round to nearest even (to zero where the name says rtz),
/// canonical NaNs, flags left with the host (host_environment.h). Other rounding modes: soft.h.
///
///   f32_add sub mul div sqrt fma   f32_eq lt le   f32_to_i32_rtz to_u32_rtz from_i32 from_u32
///   f16_ (the same)                f32_from_f16 f16_from_f32
namespace tessera::fp {

#if TESSERA_HOST_FLOAT
using namespace x86;  // NOLINT(google-build-using-namespace)
#else
using namespace portable;  // NOLINT(google-build-using-namespace)
#endif

// The four fused forms; a sign flipped beforehand leaves the flags right.
inline std::uint32_t f32_fmadd(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return f32_fma(a, b, c);
}
inline std::uint32_t f32_fmsub(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return f32_fma(a, b, negate<F32>(c));
}
inline std::uint32_t f32_fnmsub(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return f32_fma(negate<F32>(a), b, c);
}
inline std::uint32_t f32_fnmadd(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return f32_fma(negate<F32>(a), b, negate<F32>(c));
}
inline std::uint16_t f16_fmadd(std::uint16_t a, std::uint16_t b, std::uint16_t c) {
  return f16_fma(a, b, c);
}
inline std::uint16_t f16_fmsub(std::uint16_t a, std::uint16_t b, std::uint16_t c) {
  return f16_fma(a, b, negate<F16>(c));
}
inline std::uint16_t f16_fnmsub(std::uint16_t a, std::uint16_t b, std::uint16_t c) {
  return f16_fma(negate<F16>(a), b, c);
}
inline std::uint16_t f16_fnmadd(std::uint16_t a, std::uint16_t b, std::uint16_t c) {
  return f16_fma(negate<F16>(a), b, negate<F16>(c));
}

/// fmin, fmax: the flag of a signalling NaN goes to the host.
template <class F>
Bits<F> host_min(Bits<F> a, Bits<F> b) {
  std::uint32_t flags = 0;
  const Bits<F> result = min<F>(a, b, flags);
  if (flags != 0) [[unlikely]]
    raise_flags(flags);
  return result;
}
template <class F>
Bits<F> host_max(Bits<F> a, Bits<F> b) {
  std::uint32_t flags = 0;
  const Bits<F> result = max<F>(a, b, flags);
  if (flags != 0) [[unlikely]]
    raise_flags(flags);
  return result;
}

}  // namespace tessera::fp
