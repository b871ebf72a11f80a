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
// Both formats: F is F32 or F16, t the letter of its mnemonics. A sign flipped before an fma leaves the flags right.
#define TESSERA_FLOATING(F, t) \
  template <class H> void execute(Is<fmadd_##t>, H& h) { set<F>(h, on::fma<F>(h, s1<F>(h), s2<F>(h), s3<F>(h))); } \
  template <class H> void execute(Is<fmsub_##t>, H& h) { set<F>(h, on::fma<F>(h, s1<F>(h), s2<F>(h), fp::negate<F>(s3<F>(h)))); } \
  template <class H> void execute(Is<fnmsub_##t>, H& h) { set<F>(h, on::fma<F>(h, fp::negate<F>(s1<F>(h)), s2<F>(h), s3<F>(h))); } \
  template <class H> void execute(Is<fnmadd_##t>, H& h) { set<F>(h, on::fma<F>(h, fp::negate<F>(s1<F>(h)), s2<F>(h), fp::negate<F>(s3<F>(h)))); } \
  template <class H> void execute(Is<fadd_##t>, H& h) { set<F>(h, on::add<F>(h, s1<F>(h), s2<F>(h))); } \
  template <class H> void execute(Is<fsub_##t>, H& h) { set<F>(h, on::sub<F>(h, s1<F>(h), s2<F>(h))); } \
  template <class H> void execute(Is<fmul_##t>, H& h) { set<F>(h, on::mul<F>(h, s1<F>(h), s2<F>(h))); } \
  template <class H> void execute(Is<fdiv_##t>, H& h) { set<F>(h, on::div<F>(h, s1<F>(h), s2<F>(h))); } \
  template <class H> void execute(Is<fsqrt_##t>, H& h) { set<F>(h, on::sqrt<F>(h, s1<F>(h))); } \
  template <class H> void execute(Is<fsgnj_##t>, H& h) { set<F>(h, fp::sgnj<F>(s1<F>(h), s2<F>(h))); } \
  template <class H> void execute(Is<fsgnjn_##t>, H& h) { set<F>(h, fp::sgnjn<F>(s1<F>(h), s2<F>(h))); } \
  template <class H> void execute(Is<fsgnjx_##t>, H& h) { set<F>(h, fp::sgnjx<F>(s1<F>(h), s2<F>(h))); } \
  template <class H> void execute(Is<fmin_##t>, H& h) { set<F>(h, fp::host_min<F>(s1<F>(h), s2<F>(h))); } \
  template <class H> void execute(Is<fmax_##t>, H& h) { set<F>(h, fp::host_max<F>(s1<F>(h), s2<F>(h))); } \
  template <class H> void execute(Is<feq_##t>, H& h) { h.rd(on::eq<F>(s1<F>(h), s2<F>(h)) ? 1U : 0U); } \
  template <class H> void execute(Is<flt_##t>, H& h) { h.rd(on::lt<F>(s1<F>(h), s2<F>(h)) ? 1U : 0U); } \
  template <class H> void execute(Is<fle_##t>, H& h) { h.rd(on::le<F>(s1<F>(h), s2<F>(h)) ? 1U : 0U); } \
  template <class H> void execute(Is<fclass_##t>, H& h) { h.rd(fp::classify<F>(s1<F>(h))); } \
  template <class H> void execute(Is<fcvt_w_##t>, H& h) { h.rd(on::to_i32<F>(h, s1<F>(h))); } \
  template <class H> void execute(Is<fcvt_wu_##t>, H& h) { h.rd(on::to_u32<F>(h, s1<F>(h))); } \
  template <class H> void execute(Is<fcvt_##t##_w>, H& h) { set<F>(h, on::from_i32<F>(h, h.rs1())); } \
  template <class H> void execute(Is<fcvt_##t##_wu>, H& h) { set<F>(h, on::from_u32<F>(h, h.rs1())); }
TESSERA_FLOATING(F32, s)
TESSERA_FLOATING(F16, h)
#undef TESSERA_FLOATING

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
