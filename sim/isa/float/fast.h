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

/// fmin, fmax: a signalling NaN raises its flag in the host.
template <class F>
Bits<F> host_min(Bits<F> a, Bits<F> b) {
  return raising([=](std::uint32_t& flags) { return min<F>(a, b, flags); });
}
template <class F>
Bits<F> host_max(Bits<F> a, Bits<F> b) {
  return raising([=](std::uint32_t& flags) { return max<F>(a, b, flags); });
}

}  // namespace tessera::fp
