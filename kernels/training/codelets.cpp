// Tile code of training: what is done to single elements and to rows, in f32 and f16.
#include "kernels/training/tile_code.h"

using namespace training;

namespace {

/// GELU by its usual approximation, x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))): arXiv
/// 1606.08415.
struct Gelu {
  float scale = constant(0.7978845608028654F);
  float cube = constant(0.044715F);
  float half = constant(0.5F);
  float one = constant(1.0F);
  float three = constant(3.0F);

  float value(float z) const {
    const float t = xtile::act_tanh(scale * (z + cube * z * z * z));
    return half * z * (one + t);
  }
  float slope(float z) const {
    const float t = xtile::act_tanh(scale * (z + cube * z * z * z));
    const float inner = scale * (one + three * cube * z * z);
    return half * (one + t) + half * z * (one - t * t) * inner;
  }
};

/// out = f(z), or out = gradient of the output times f'(z).
struct Activation {
  const double* z;
  const double* gradient;
  double* out;
  unsigned padding;
  Parts<Part> parts;
};

/// What is no number stays: the loss shows it.
template <double (*kGreater)(double, double)>
inline void relu(const Activation* call) {
  const Part part = call->parts.mine();
  const double* z = shifted(call->z, part.offset);
  double* out = shifted(call->out, part.offset);
  const double zero = xtile::splat_s(0.0F);
  for (unsigned n = part.words; n != 0; --n) {
    const double each = xtile::fld_p<8>(z);
    xtile::fsd_p<8>(xtile::sel(kGreater(zero, each), zero, each), out);
  }
  xtile::xctl<0>();
}

/// `smallest` has the smallest positive number in each lane: what it exceeds is zero or less, and
/// that is never so of what is no number.
template <double (*kGreater)(double, double)>
inline void relu_slope(const Activation* call, unsigned smallest) {
  const Part part = call->parts.mine();
  const double* z = shifted(call->z, part.offset);
  const double* gradient = shifted(call->gradient, part.offset);
  double* out = shifted(call->out, part.offset);
  const double zero = xtile::splat_s(0.0F);
  const double least = xtile::splat_s(constant(__builtin_bit_cast(float, smallest)));
  for (unsigned n = part.words; n != 0; --n) {
    const double none = kGreater(least, xtile::fld_p<8>(z));
    xtile::fsd_p<8>(xtile::sel(none, zero, xtile::fld_p<8>(gradient)), out);
  }
  xtile::xctl<0>();
}

}  // namespace

extern "C" void training_relu(const Activation* call) { relu<xtile::gt_2s>(call); }
extern "C" void training_relu_f16(const Activation* call) { relu<xtile::gt_4h>(call); }
extern "C" void training_relu_slope(const Activation* call) {
  relu_slope<xtile::gt_2s>(call, 0x00000001);
}
extern "C" void training_relu_slope_f16(const Activation* call) {
  relu_slope<xtile::gt_4h>(call, 0x00010001);
}

namespace {

template <class Number>
inline void gelu(const Activation* call) {
  const Part part = call->parts.mine();
  const Number* z = reinterpret_cast<const Number*>(shifted(call->z, part.offset));
  Number* out = reinterpret_cast<Number*>(shifted(call->out, part.offset));
  const Gelu gelu;
  for (unsigned n = 8 / sizeof(Number) * part.words; n != 0; --n) put(gelu.value(take(z)), out);
  xtile::xctl<0>();
}

template <class Number>
inline void gelu_slope(const Activation* call) {
  const Part part = call->parts.mine();
  const Number* z = reinterpret_cast<const Number*>(shifted(call->z, part.offset));
  const Number* gradient = reinterpret_cast<const Number*>(shifted(call->gradient, part.offset));
  Number* out = reinterpret_cast<Number*>(shifted(call->out, part.offset));
  const Gelu gelu;
  for (unsigned n = 8 / sizeof(Number) * part.words; n != 0; --n)
    put(take(gradient) * gelu.slope(take(z)), out);
  xtile::xctl<0>();
}

}  // namespace

extern "C" void training_gelu(const Activation* call) { gelu<float>(call); }
extern "C" void training_gelu_f16(const Activation* call) { gelu<Half>(call); }
extern "C" void training_gelu_slope(const Activation* call) { gelu_slope<float>(call); }
extern "C" void training_gelu_slope_f16(const Activation* call) { gelu_slope<Half>(call); }

namespace {

struct Clearing {
  double* base;
  unsigned padding;
  Parts<Part> parts;
};

}  // namespace

extern "C" void training_clear(const Clearing* call) {
  const Part part = call->parts.mine();
  double* out = shifted(call->base, part.offset);
  const double zero = xtile::splat_s(0.0F);
  for (unsigned n = part.words; n != 0; --n) xtile::fsd_p<8>(zero, out);
  xtile::xctl<0>();
}

namespace {

struct Filling {
  float* base;
  const unsigned* offsets;  // bytes
  unsigned count;
  float value;
};

}  // namespace

/// Stores a value at some offsets; one worker.
extern "C" void training_fill(const Filling* call) {
  const unsigned* offset = call->offsets;
  for (unsigned n = call->count; n != 0; --n)
    *shifted(call->base, xtile::lw_p<4>(offset)) = call->value;
  xtile::xctl<0>();
}

extern "C" void training_fill_f16(const Filling* call) {
  const unsigned* offset = call->offsets;
  const Half value = static_cast<Half>(call->value);
  for (unsigned n = call->count; n != 0; --n)
    *reinterpret_cast<Half*>(shifted(call->base, xtile::lw_p<4>(offset))) = value;
  xtile::xctl<0>();
}
