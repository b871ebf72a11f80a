// Tile code of training: elementwise and row operations in f32 and f16, and the loss.
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

/// Propagates NaN: the loss shows it.
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

/// `smallest` holds the smallest positive number in each lane. It exceeds exactly the numbers that
/// are zero or less, and never a NaN.
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

template <class Number, bool kSlope>
inline void gelu(const Activation* call) {
  const Part part = call->parts.mine();
  const Number* z = reinterpret_cast<const Number*>(shifted(call->z, part.offset));
  const Number* gradient = reinterpret_cast<const Number*>(shifted(call->gradient, part.offset));
  Number* out = reinterpret_cast<Number*>(shifted(call->out, part.offset));
  const Gelu gelu;
  for (unsigned n = 8 / sizeof(Number) * part.words; n != 0; --n)
    put(kSlope ? take(gradient) * gelu.slope(take(z)) : gelu.value(take(z)), out);
  xtile::xctl<0>();
}

struct ClearCall {
  double* base;
  unsigned padding;
  Parts<Part> parts;
};

struct FillCall {
  float* base;
  const unsigned* offsets;  // bytes
  unsigned count;
  float value;
};

struct CrossEntropy {
  const float* logits;  // rows of `pitch` floats, one a sample
  float* gradient;      // same layout as logits
  const unsigned* labels;
  float* results;  // per sample: loss; 1 if the largest logit is the label's
  unsigned samples, classes, pitch;
  float scale;           // factor of gradients: 1 / batch
  unsigned rows;         // rows of the gradient: samples, then padding
  const Scale* scaling;  // f16 only
};

/// Returns 1 if `holds`, else 0. The asm hides from the compiler that no other value is possible:
/// it must not branch on data, so that a step's time does not depend on them.
inline unsigned one_if(bool holds) {
  unsigned one = holds;
  __asm__("" : "+r"(one));
  return one;
}

/// Reduces a sample's logits, one by one, to the largest and the label's.
struct Logits {
  float largest;
  unsigned ahead;   ///< distance from the current logit to the label's; counts down
  unsigned chosen;  ///< `ahead` at the largest logit (the first of equal ones)
  unsigned bits = 0;

  Logits(float first, unsigned label) : largest(first), ahead(label), chosen(label) {}
  void take(float each) {
    chosen += one_if(each > largest) * (ahead - chosen);
    largest = __builtin_fmaxf(largest, each);
    bits |= one_if(ahead-- == 0) * __builtin_bit_cast(unsigned, each);
  }
  [[nodiscard]] float of_label() const { return __builtin_bit_cast(float, bits); }
  /// 1 if the largest is the label's.
  [[nodiscard]] float is_right() const { return static_cast<float>(one_if(chosen == 0)); }
};

/// An element of the gradient: `share`, minus `scale` at the label.
inline float less_at_label(float share, float scale, unsigned ahead) {
  return __builtin_fmaf(-scale, static_cast<float>(one_if(ahead == 0)), share);
}

struct Totals {
  const float* results;
  float* totals;  // mean loss, number of correct samples
  unsigned samples;
  float scale;
};

}  // namespace

extern "C" void training_relu(const Activation* call) { relu<xtile::gt_2s>(call); }
extern "C" void training_relu_f16(const Activation* call) { relu<xtile::gt_4h>(call); }
extern "C" void training_relu_slope(const Activation* call) {
  relu_slope<xtile::gt_2s>(call, 0x00000001);
}
extern "C" void training_relu_slope_f16(const Activation* call) {
  relu_slope<xtile::gt_4h>(call, 0x00010001);
}

extern "C" void training_gelu(const Activation* call) { gelu<float, false>(call); }
extern "C" void training_gelu_f16(const Activation* call) { gelu<Half, false>(call); }
extern "C" void training_gelu_slope(const Activation* call) { gelu<float, true>(call); }
extern "C" void training_gelu_slope_f16(const Activation* call) { gelu<Half, true>(call); }

extern "C" void training_clear(const ClearCall* call) {
  const Part part = call->parts.mine();
  double* out = shifted(call->base, part.offset);
  const double zero = xtile::splat_s(0.0F);
  for (unsigned n = part.words; n != 0; --n) xtile::fsd_p<8>(zero, out);
  xtile::xctl<0>();
}

/// Stores a value at some offsets; one worker.
extern "C" void training_fill(const FillCall* call) {
  const unsigned* offset = call->offsets;
  for (unsigned n = call->count; n != 0; --n)
    *shifted(call->base, xtile::lw_p<4>(offset)) = call->value;
  xtile::xctl<0>();
}

extern "C" void training_fill_f16(const FillCall* call) {
  const unsigned* offset = call->offsets;
  const Half value = static_cast<Half>(call->value);
  for (unsigned n = call->count; n != 0; --n)
    *reinterpret_cast<Half*>(shifted(call->base, xtile::lw_p<4>(offset))) = value;
  xtile::xctl<0>();
}

/// Softmax and cross-entropy of this worker's samples, and the gradient of the logits. Workers have
/// no stack, so values needed once per sample are read again.
extern "C" void training_cross_entropy(const CrossEntropy* call) {
  for (unsigned s = xtile::worker(); s < call->samples; s += xtile::workers()) {
    const unsigned row = s * call->pitch;
    const unsigned label = call->labels[s];
    const unsigned classes = call->classes;
    const float* logit = call->logits + row;
    Logits all(*logit, label);
    for (unsigned n = classes; n != 0; --n) all.take(xtile::flw_p<4>(logit));
    call->results[2 * s + 1] = all.is_right();
    logit = call->logits + row;
    float* gradient = call->gradient + row;
    const float log2_e = constant(1.4426950408889634F);
    float sum = 0.0F;
    for (unsigned n = classes; n != 0; --n) {
      const float e = xtile::act_exp2((xtile::flw_p<4>(logit) - all.largest) * log2_e);
      xtile::fsw_p<4>(e, gradient);
      sum += e;
    }
    for (unsigned n = call->pitch - classes; n != 0; --n) xtile::fsw_p<4>(0.0F, gradient);
    const float scale = call->scale;
    const float each = scale / sum;
    gradient = call->gradient + row;
    for (unsigned ahead = label, n = classes; n != 0; --n)
      xtile::fsw_p<4>(less_at_label(*gradient * each, scale, ahead--), gradient);
    call->results[2 * s] =
        xtile::act_log2(sum) * constant(0.6931471805599453F) + all.largest - all.of_label();
  }
  for (unsigned row = call->samples + xtile::worker(); row < call->rows; row += xtile::workers()) {
    float* gradient = call->gradient + row * call->pitch;
    for (unsigned n = call->pitch; n != 0; --n) xtile::fsw_p<4>(0.0F, gradient);
  }
  xtile::xctl<0>();
}

/// Cross entropy of f16: recomputes exponentials, so that gradients are rounded once.
extern "C" void training_cross_entropy_f16(const CrossEntropy* call) {
  const Half* const logits = reinterpret_cast<const Half*>(call->logits);
  Half* const gradients = reinterpret_cast<Half*>(call->gradient);
  for (unsigned s = xtile::worker(); s < call->samples; s += xtile::workers()) {
    const unsigned label = call->labels[s];
    const unsigned classes = call->classes;
    const Half* logit = logits + s * call->pitch;
    Logits all(static_cast<float>(*logit), label);
    for (unsigned n = classes; n != 0; --n) all.take(take(logit));
    call->results[2 * s + 1] = all.is_right();
    logit = logits + s * call->pitch;
    const float log2_e = constant(1.4426950408889634F);
    float sum = 0.0F;
    for (unsigned n = classes; n != 0; --n)
      sum += xtile::act_exp2((take(logit) - all.largest) * log2_e);
    logit = logits + s * call->pitch;
    call->results[2 * s] =
        xtile::act_log2(sum) * constant(0.6931471805599453F) + all.largest - all.of_label();
    const float scale = call->scale * call->scaling->scale;
    const float each = scale / sum;
    Half* gradient = gradients + s * call->pitch;
    for (unsigned ahead = label, n = classes; n != 0; --n) {
      const float share = each * xtile::act_exp2((take(logit) - all.largest) * log2_e);
      put(less_at_label(share, scale, ahead--), gradient);
    }
    for (unsigned n = call->pitch - classes; n != 0; --n) put(0.0F, gradient);
  }
  for (unsigned row = call->samples + xtile::worker(); row < call->rows; row += xtile::workers()) {
    Half* gradient = gradients + row * call->pitch;
    for (unsigned n = call->pitch; n != 0; --n) put(0.0F, gradient);
  }
  xtile::xctl<0>();
}

/// Adds up the results of samples in order; one worker.
extern "C" void training_totals(const Totals* call) {
  const float* result = call->results;
  float loss = 0.0F;
  float right = 0.0F;
  for (unsigned n = call->samples; n != 0; --n) {
    loss += xtile::flw_p<4>(result);
    right += xtile::flw_p<4>(result);
  }
  call->totals[0] = loss * call->scale;
  call->totals[1] = right;
  xtile::xctl<0>();
}
