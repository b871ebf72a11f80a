#pragma once

#include "sim/isa/float/format.h"
#include "sim/isa/float/round.h"

/// Arithmetic in any rounding mode, with equal results on every host. F is F16 or F32; flags are
/// ORed into `flags` (bits of fflags, so fcsr itself may be passed). NaN results are canonical.
namespace tessera::fp::soft {

/// a * b + c with one rounding.
template <class F>
Bits<F> fma(Bits<F> a, Bits<F> b, Bits<F> c, Rounding mode, std::uint32_t& flags);
template <class F>
Bits<F> mul(Bits<F> a, Bits<F> b, Rounding mode, std::uint32_t& flags);
template <class F>
Bits<F> div(Bits<F> a, Bits<F> b, Rounding mode, std::uint32_t& flags);
template <class F>
Bits<F> sqrt(Bits<F> a, Rounding mode, std::uint32_t& flags);

template <class F>
Bits<F> add(Bits<F> a, Bits<F> b, Rounding mode, std::uint32_t& flags) {
  return fma<F>(a, F::kOne, b, mode, flags);
}
template <class F>
Bits<F> sub(Bits<F> a, Bits<F> b, Rounding mode, std::uint32_t& flags) {
  return fma<F>(a, F::kOne, negate<F>(b), mode, flags);
}

/// The four instructions of the manual: fmadd a*b+c, fmsub a*b-c, fnmsub -(a*b)+c, fnmadd
/// -(a*b)-c.
template <class F>
Bits<F> fmadd(Bits<F> a, Bits<F> b, Bits<F> c, Rounding mode, std::uint32_t& flags) {
  return fma<F>(a, b, c, mode, flags);
}
template <class F>
Bits<F> fmsub(Bits<F> a, Bits<F> b, Bits<F> c, Rounding mode, std::uint32_t& flags) {
  return fma<F>(a, b, negate<F>(c), mode, flags);
}
template <class F>
Bits<F> fnmsub(Bits<F> a, Bits<F> b, Bits<F> c, Rounding mode, std::uint32_t& flags) {
  return fma<F>(negate<F>(a), b, c, mode, flags);
}
template <class F>
Bits<F> fnmadd(Bits<F> a, Bits<F> b, Bits<F> c, Rounding mode, std::uint32_t& flags) {
  return fma<F>(negate<F>(a), b, negate<F>(c), mode, flags);
}

/// Converts between formats (fcvt.s.h, fcvt.h.s).
template <class To, class From>
Bits<To> convert(Bits<From> a, Rounding mode, std::uint32_t& flags);
/// fcvt.w, fcvt.wu: out-of-range values saturate with only NV set; NaN gives the largest integer.
template <class F>
std::uint32_t to_i32(Bits<F> a, Rounding mode, std::uint32_t& flags);
template <class F>
std::uint32_t to_u32(Bits<F> a, Rounding mode, std::uint32_t& flags);
template <class F>
Bits<F> from_i32(std::uint32_t a, Rounding mode, std::uint32_t& flags);
template <class F>
Bits<F> from_u32(std::uint32_t a, Rounding mode, std::uint32_t& flags);

}  // namespace tessera::fp::soft
