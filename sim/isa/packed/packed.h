#pragma once

#include "sim/isa/packed/packed_portable.h"
#if TESSERA_HOST_FLOAT
#include "sim/isa/packed/packed_x86.h"
#endif

/// Packed instructions on raw 64-bit registers: four f16 lanes (4h) or two f32 lanes (2s).
///
/// Each lane equals the scalar instruction of the base ISA, but always rounds to nearest even:
/// canonical NaNs, and flags accrue as the scalar's (left in the host, host_environment.h). Moves
/// (lanes.h), act.*, and rnd.64 touch no flags.
///
///   add sub mul min max gt fma axpy in _4h and _2s; dot2_s_h sum_2s pack_4h unpkl_2s unpkh_2s
///   splat sel zip mask: lanes.h
namespace tessera::packed {

#if TESSERA_HOST_FLOAT
using namespace x86;  // NOLINT(google-build-using-namespace)
#else
using namespace portable;  // NOLINT(google-build-using-namespace)
#endif

/// Lane 0 of a times b, plus c, in each lane.
inline std::uint64_t axpy_4h(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return fma_4h(splat_h(a), b, c);
}
inline std::uint64_t axpy_2s(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return fma_2s(splat_s(a), b, c);
}
/// Lane 0 + lane 1, NaN-boxed.
inline std::uint64_t sum_2s(std::uint64_t a) {
  return fp::box<fp::F32>(fp::f32_add(lane_s(a, 0), lane_s(a, 1)));
}
inline std::uint64_t unpkh_2s(std::uint64_t a) { return unpkl_2s(a >> 32); }

}  // namespace tessera::packed
