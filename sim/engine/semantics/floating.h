#pragma once

#include <cstdint>
#include <type_traits>

#include "sim/engine/semantics/arithmetic.h"
#include "sim/engine/semantics/integer.h"

/// F and Zfh without loads and stores, and fsgnj.d. Operands are unboxed as the manual says: a
/// badly boxed register reads as the canonical NaN.
namespace tessera::engine::semantics {

using fp::F16;
using fp::F32;
namespace on = arithmetic;

template <class F, class H>
fp::Bits<F> s1(H& h) {
  if constexpr (std::is_same_v<F, F32>) return h.fs1_f32();
  return fp::unbox<F>(h.fs1());
}
template <class F, class H>
fp::Bits<F> s2(H& h) {
  if constexpr (std::is_same_v<F, F32>) return h.fs2_f32();
  return fp::unbox<F>(h.fs2());
}
template <class F, class H>
fp::Bits<F> s3(H& h) {
  if constexpr (std::is_same_v<F, F32>) return h.fs3_f32();
  return fp::unbox<F>(h.fs3());
}
template <class F, class H>
void set(H& h, fp::Bits<F> value) {
  if constexpr (std::is_same_v<F, F32>) return h.fd_f32(value);
  h.fd(fp::box<F>(value));
}

// clang-format off
// binary32
template <class H> void execute(Is<fmadd_s>, H& h) { set<F32>(h, on::fma<F32>(h, s1<F32>(h), s2<F32>(h), s3<F32>(h))); }
template <class H> void execute(Is<fmsub_s>, H& h) { set<F32>(h, on::fma<F32>(h, s1<F32>(h), s2<F32>(h), fp::negate<F32>(s3<F32>(h)))); }
template <class H> void execute(Is<fnmsub_s>, H& h) { set<F32>(h, on::fma<F32>(h, fp::negate<F32>(s1<F32>(h)), s2<F32>(h), s3<F32>(h))); }
template <class H> void execute(Is<fnmadd_s>, H& h) { set<F32>(h, on::fma<F32>(h, fp::negate<F32>(s1<F32>(h)), s2<F32>(h), fp::negate<F32>(s3<F32>(h)))); }
template <class H> void execute(Is<fadd_s>, H& h) { set<F32>(h, on::add<F32>(h, s1<F32>(h), s2<F32>(h))); }
template <class H> void execute(Is<fsub_s>, H& h) { set<F32>(h, on::sub<F32>(h, s1<F32>(h), s2<F32>(h))); }
template <class H> void execute(Is<fmul_s>, H& h) { set<F32>(h, on::mul<F32>(h, s1<F32>(h), s2<F32>(h))); }
template <class H> void execute(Is<fdiv_s>, H& h) { set<F32>(h, on::div<F32>(h, s1<F32>(h), s2<F32>(h))); }
template <class H> void execute(Is<fsqrt_s>, H& h) { set<F32>(h, on::sqrt<F32>(h, s1<F32>(h))); }
template <class H> void execute(Is<fsgnj_s>, H& h) { set<F32>(h, fp::sgnj<F32>(s1<F32>(h), s2<F32>(h))); }
template <class H> void execute(Is<fsgnjn_s>, H& h) { set<F32>(h, fp::sgnjn<F32>(s1<F32>(h), s2<F32>(h))); }
template <class H> void execute(Is<fsgnjx_s>, H& h) { set<F32>(h, fp::sgnjx<F32>(s1<F32>(h), s2<F32>(h))); }
template <class H> void execute(Is<fmin_s>, H& h) { set<F32>(h, fp::host_min<F32>(s1<F32>(h), s2<F32>(h))); }
template <class H> void execute(Is<fmax_s>, H& h) { set<F32>(h, fp::host_max<F32>(s1<F32>(h), s2<F32>(h))); }
template <class H> void execute(Is<feq_s>, H& h) { h.rd(on::host::eq(F32{}, s1<F32>(h), s2<F32>(h)) ? 1U : 0U); }
template <class H> void execute(Is<flt_s>, H& h) { h.rd(on::host::lt(F32{}, s1<F32>(h), s2<F32>(h)) ? 1U : 0U); }
template <class H> void execute(Is<fle_s>, H& h) { h.rd(on::host::le(F32{}, s1<F32>(h), s2<F32>(h)) ? 1U : 0U); }
template <class H> void execute(Is<fclass_s>, H& h) { h.rd(fp::classify<F32>(s1<F32>(h))); }
template <class H> void execute(Is<fcvt_w_s>, H& h) { h.rd(on::to_i32<F32>(h, s1<F32>(h))); }
template <class H> void execute(Is<fcvt_wu_s>, H& h) { h.rd(on::to_u32<F32>(h, s1<F32>(h))); }
template <class H> void execute(Is<fcvt_s_w>, H& h) { set<F32>(h, on::from_i32<F32>(h, h.rs1())); }
template <class H> void execute(Is<fcvt_s_wu>, H& h) { set<F32>(h, on::from_u32<F32>(h, h.rs1())); }
// binary16
template <class H> void execute(Is<fmadd_h>, H& h) { set<F16>(h, on::fma<F16>(h, s1<F16>(h), s2<F16>(h), s3<F16>(h))); }
template <class H> void execute(Is<fmsub_h>, H& h) { set<F16>(h, on::fma<F16>(h, s1<F16>(h), s2<F16>(h), fp::negate<F16>(s3<F16>(h)))); }
template <class H> void execute(Is<fnmsub_h>, H& h) { set<F16>(h, on::fma<F16>(h, fp::negate<F16>(s1<F16>(h)), s2<F16>(h), s3<F16>(h))); }
template <class H> void execute(Is<fnmadd_h>, H& h) { set<F16>(h, on::fma<F16>(h, fp::negate<F16>(s1<F16>(h)), s2<F16>(h), fp::negate<F16>(s3<F16>(h)))); }
template <class H> void execute(Is<fadd_h>, H& h) { set<F16>(h, on::add<F16>(h, s1<F16>(h), s2<F16>(h))); }
template <class H> void execute(Is<fsub_h>, H& h) { set<F16>(h, on::sub<F16>(h, s1<F16>(h), s2<F16>(h))); }
template <class H> void execute(Is<fmul_h>, H& h) { set<F16>(h, on::mul<F16>(h, s1<F16>(h), s2<F16>(h))); }
template <class H> void execute(Is<fdiv_h>, H& h) { set<F16>(h, on::div<F16>(h, s1<F16>(h), s2<F16>(h))); }
template <class H> void execute(Is<fsqrt_h>, H& h) { set<F16>(h, on::sqrt<F16>(h, s1<F16>(h))); }
template <class H> void execute(Is<fsgnj_h>, H& h) { set<F16>(h, fp::sgnj<F16>(s1<F16>(h), s2<F16>(h))); }
template <class H> void execute(Is<fsgnjn_h>, H& h) { set<F16>(h, fp::sgnjn<F16>(s1<F16>(h), s2<F16>(h))); }
template <class H> void execute(Is<fsgnjx_h>, H& h) { set<F16>(h, fp::sgnjx<F16>(s1<F16>(h), s2<F16>(h))); }
template <class H> void execute(Is<fmin_h>, H& h) { set<F16>(h, fp::host_min<F16>(s1<F16>(h), s2<F16>(h))); }
template <class H> void execute(Is<fmax_h>, H& h) { set<F16>(h, fp::host_max<F16>(s1<F16>(h), s2<F16>(h))); }
template <class H> void execute(Is<feq_h>, H& h) { h.rd(on::host::eq(F16{}, s1<F16>(h), s2<F16>(h)) ? 1U : 0U); }
template <class H> void execute(Is<flt_h>, H& h) { h.rd(on::host::lt(F16{}, s1<F16>(h), s2<F16>(h)) ? 1U : 0U); }
template <class H> void execute(Is<fle_h>, H& h) { h.rd(on::host::le(F16{}, s1<F16>(h), s2<F16>(h)) ? 1U : 0U); }
template <class H> void execute(Is<fclass_h>, H& h) { h.rd(fp::classify<F16>(s1<F16>(h))); }
template <class H> void execute(Is<fcvt_w_h>, H& h) { h.rd(on::to_i32<F16>(h, s1<F16>(h))); }
template <class H> void execute(Is<fcvt_wu_h>, H& h) { h.rd(on::to_u32<F16>(h, s1<F16>(h))); }
template <class H> void execute(Is<fcvt_h_w>, H& h) { set<F16>(h, on::from_i32<F16>(h, h.rs1())); }
template <class H> void execute(Is<fcvt_h_wu>, H& h) { set<F16>(h, on::from_u32<F16>(h, h.rs1())); }

// The moves read and write bits: no unboxing.
template <class H> void execute(Is<fmv_x_w>, H& h) { h.rd(static_cast<std::uint32_t>(h.fs1())); }
template <class H> void execute(Is<fmv_w_x>, H& h) { set<F32>(h, h.rs1()); }
template <class H> void execute(Is<fmv_x_h>, H& h) { h.rd(as_unsigned(static_cast<std::int16_t>(h.fs1()))); }
template <class H> void execute(Is<fmv_h_x>, H& h) { set<F16>(h, static_cast<std::uint16_t>(h.rs1())); }
template <class H> void execute(Is<fcvt_s_h>, H& h) { set<F32>(h, fp::f32_from_f16(s1<F16>(h))); }
template <class H> void execute(Is<fcvt_h_s>, H& h) { set<F16>(h, on::narrow(h, s1<F32>(h))); }
template <class H> void execute(Is<fsgnj_d>, H& h) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  h.fd((h.fs1() & ~kSign) | (h.fs2() & kSign));
}
// clang-format on

}  // namespace tessera::engine::semantics
