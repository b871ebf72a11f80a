#pragma once

#include <cstdint>

#include "sim/engine/semantics/integer.h"
#include "sim/isa/packed/packed.h"

/// Xtile arithmetic on raw 64-bit registers.
namespace tessera::engine::semantics {

namespace simd = tessera::packed;

// clang-format off
template <class H> void execute(Is<fma_4h>, H& h) { h.fd(simd::fma_4h(h.fs1(), h.fs2(), h.fs3())); }
template <class H> void execute(Is<fma_2s>, H& h) { h.fd(simd::fma_2s(h.fs1(), h.fs2(), h.fs3())); }
template <class H> void execute(Is<axpy_4h>, H& h) { h.fd(simd::axpy_4h(h.fs1(), h.fs2(), h.fs3())); }
template <class H> void execute(Is<axpy_2s>, H& h) { h.fd(simd::axpy_2s(h.fs1(), h.fs2(), h.fs3())); }
template <class H> void execute(Is<dot2_s_h>, H& h) { h.fd(simd::dot2_s_h(h.fs1(), h.fs2(), h.fs3())); }
template <class H> void execute(Is<sel>, H& h) { h.fd(simd::sel(h.fs1(), h.fs2(), h.fs3())); }
template <class H> void execute(Is<add_4h>, H& h) { h.fd(simd::add_4h(h.fs1(), h.fs2())); }
template <class H> void execute(Is<sub_4h>, H& h) { h.fd(simd::sub_4h(h.fs1(), h.fs2())); }
template <class H> void execute(Is<mul_4h>, H& h) { h.fd(simd::mul_4h(h.fs1(), h.fs2())); }
template <class H> void execute(Is<min_4h>, H& h) { h.fd(simd::min_4h(h.fs1(), h.fs2())); }
template <class H> void execute(Is<max_4h>, H& h) { h.fd(simd::max_4h(h.fs1(), h.fs2())); }
template <class H> void execute(Is<gt_4h>, H& h) { h.fd(simd::gt_4h(h.fs1(), h.fs2())); }
template <class H> void execute(Is<add_2s>, H& h) { h.fd(simd::add_2s(h.fs1(), h.fs2())); }
template <class H> void execute(Is<sub_2s>, H& h) { h.fd(simd::sub_2s(h.fs1(), h.fs2())); }
template <class H> void execute(Is<mul_2s>, H& h) { h.fd(simd::mul_2s(h.fs1(), h.fs2())); }
template <class H> void execute(Is<min_2s>, H& h) { h.fd(simd::min_2s(h.fs1(), h.fs2())); }
template <class H> void execute(Is<max_2s>, H& h) { h.fd(simd::max_2s(h.fs1(), h.fs2())); }
template <class H> void execute(Is<gt_2s>, H& h) { h.fd(simd::gt_2s(h.fs1(), h.fs2())); }
template <class H> void execute(Is<splat_h>, H& h) { h.fd(simd::splat_h(h.fs1())); }
template <class H> void execute(Is<splat_s>, H& h) { h.fd(simd::splat_s(h.fs1())); }
template <class H> void execute(Is<sum_2s>, H& h) { h.fd(simd::sum_2s(h.fs1())); }
template <class H> void execute(Is<add_2w>, H& h) { h.fd(simd::add_2w(h.fs1(), h.fs2())); }
template <class H> void execute(Is<mask_2s>, H& h) { h.rd(simd::mask_2s(h.fs1())); }
template <class H> void execute(Is<pack_4h>, H& h) { h.fd(simd::pack_4h(h.fs1(), h.fs2())); }
template <class H> void execute(Is<unpkl_2s>, H& h) { h.fd(simd::unpkl_2s(h.fs1())); }
template <class H> void execute(Is<unpkh_2s>, H& h) { h.fd(simd::unpkh_2s(h.fs1())); }
// clang-format on

// Two results; the second destination is written last.
template <class H>
void execute(Is<zip_h>, H& h) {
  const std::uint64_t a = h.fs1();
  const std::uint64_t b = h.fs2();
  h.fd(simd::zip_h_low(a, b));
  h.context().f[h.op().rs3] = simd::zip_h_high(a, b);
}
template <class H>
void execute(Is<zip_s>, H& h) {
  const std::uint64_t a = h.fs1();
  const std::uint64_t b = h.fs2();
  h.fd(simd::zip_s_low(a, b));
  h.context().f[h.op().rs3] = simd::zip_s_high(a, b);
}

}  // namespace tessera::engine::semantics
