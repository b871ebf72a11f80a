#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/engine/semantics/floating.h"
#include "sim/isa/packed/activation.h"
#include "sim/isa/packed/matrix.h"
#include "sim/isa/packed/random.h"

/// Xtile: the matrix unit, activations and the random generator.
namespace tessera::engine::semantics {

template <class H>
const float* rows(H& h, const packed::AmpShape& shape) {
  return h.frame().weight_rows.rows(shape.kind, shape.inputs * shape.outputs,
                                    h.frame().memory->weights);
}

// clang-format off
template <class H> void execute(Is<amp_h>, H& h) {
  const packed::AmpShape& shape = h.frame().shapes->h;
  h.fd(packed::amp_h(shape, h.context().banks, rows(h, shape), h.fs1(), h.fs2(), h.imm()));
}
template <class H> void execute(Is<amp_hs>, H& h) {
  const packed::AmpShape& shape = h.frame().shapes->hs;
  h.fd(packed::amp_hs(shape, h.context().banks, rows(h, shape), h.fs1(), h.fs2(), h.imm()));
}
template <class H> void execute(Is<amp_s>, H& h) {
  const packed::AmpShape& shape = h.frame().shapes->s;
  h.fd(packed::amp_s(shape, h.context().banks, rows(h, shape), h.fs1(), h.fs2(), h.imm()));
}
// xctl 8: clear both banks. The other numbers leave the engine.
template <class H> void execute(Is<xctl>, H& h) {
  const std::size_t sums = h.frame().shapes->bank_sums;
  std::fill_n(h.context().banks.acc, sums, 0.0F);
  std::fill_n(h.context().banks.exc, sums, 0.0F);
}

template <class H> void execute(Is<act_exp2>, H& h) { set<F32>(h, packed::act_exp2(s1<F32>(h))); }
template <class H> void execute(Is<act_log2>, H& h) { set<F32>(h, packed::act_log2(s1<F32>(h))); }
template <class H> void execute(Is<act_tanh>, H& h) { set<F32>(h, packed::act_tanh(s1<F32>(h))); }
template <class H> void execute(Is<act_sigmoid>, H& h) { set<F32>(h, packed::act_sigmoid(s1<F32>(h))); }
template <class H> void execute(Is<act_rsqrt>, H& h) { set<F32>(h, packed::act_rsqrt(s1<F32>(h))); }
template <class H> void execute(Is<rnd_64>, H& h) { h.fd(packed::rnd_64(h.context().random)); }
// clang-format on

}  // namespace tessera::engine::semantics
