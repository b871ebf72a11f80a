// Tile code of training: learning rates, and the optimisers in f32. For f16: overflow detection in
// scaled gradients, sums of gradients over copies of the network, updates of f32 masters, and
// rounding of masters to f16 weights.
#include "kernels/training/tile_code.h"

using namespace training;

namespace {

struct Schedule {
  Rate* rate;
  unsigned every;  // steps after which `factor` applies to the rate; 0: never
  float factor;
  float first_decay, second_decay;  // 0: no moments
  unsigned warm_up;
  float wave;  // cosine's angle per step; 0: no cosine
  float lowest;
  const Scale* scaling;  // f16 only
};

/// Begins a step: counts it, and updates the rate and the moments' corrections.
__attribute__((always_inline)) inline void next_step(const Schedule* call) {
  Rate* const rate = call->rate;
  if (call->every != 0 && rate->step != 0 && rate->step % call->every == 0)
    rate->rate *= call->factor;
  rate->step += 1;
  rate->first *= call->first_decay;
  rate->second *= call->second_decay;
  const float one = constant(1.0F);
  const float root = __builtin_sqrtf(one - rate->second);
  rate->root = root;
  rate->step_size = rate->rate * root / (one - rate->first);
}

/// next_step() with a warm-up or a cosine schedule.
__attribute__((always_inline)) inline void next_step_of_wave(const Schedule* call) {
  next_step(call);
  Rate* const rate = call->rate;
  if (rate->step < call->warm_up)
    rate->step_size *= static_cast<float>(rate->step) / static_cast<float>(call->warm_up);
  const float one = constant(1.0F);
  const float lowest = call->lowest;
  const Turn turn(static_cast<float>(rate->step - 1) * call->wave);
  if (call->wave != 0.0F)
    rate->step_size *= lowest + (one - lowest) * constant(0.5F) * (one + turn.cosine);
}

/// Computes the step size of the step that begins; one worker. `kScaled`: does nothing if the step
/// is skipped, so that it does not count.
template <void (*kNext)(const Schedule*), bool kScaled>
inline void schedule(const Schedule* call) {
  if (!kScaled || call->scaling->skipped == 0.0F) kNext(call);
  xtile::xctl<0>();
}

struct Update {
  float* weights;
  const float* gradient;
  float* first;  // moments, or the velocity
  float* second;
  const Rate* rate;
  float first_decay, second_decay, epsilon;
  Parts<Part> parts;
};

struct OverflowCall {
  const double* base;
  unsigned* flags;  // one per worker
  Parts<Part> parts;
};

/// Flags infinities and NaNs in a worker's part: zero times either is NaN.
template <double (*kFma)(double, double, double), double (*kLow)(double), double (*kHigh)(double)>
inline void look(const OverflowCall* call) {
  const Part part = call->parts.mine();
  const double* at = shifted(call->base, part.offset);
  const double zero = xtile::splat_s(0.0F);
  double sum = zero;
  for (unsigned n = part.words; n != 0; --n) sum = kFma(xtile::fld_p<8>(at), zero, sum);
  const float both = xtile::sum_2s(xtile::add_2s(kLow(sum), kHigh(sum)));
  call->flags[xtile::worker()] = both == 0.0F ? 0 : 1;
  xtile::xctl<0>();
}

inline double same(double packed) { return packed; }

struct Flags {
  const unsigned* flags;
  unsigned count;
  unsigned* any;
};

inline unsigned any_of(const unsigned* flags, unsigned count) {
  unsigned any = 0;
  for (unsigned n = count; n != 0; --n) any |= xtile::lw_p<4>(flags);
  return any;
}

struct RescaleCall {
  Scale* state;
  const unsigned* flags;
  unsigned count;
  unsigned window;  // steps without overflow before the scale doubles; 0: never
  float largest;
};

struct SumCall {
  const double* own;
  const double* further;  // arrays of `bytes` each
  double* sum;
  unsigned arrays, bytes;
  unsigned padding;
  Parts<Part> parts;
};

struct SingleSum {
  double sum;

  explicit SingleSum(double word) : sum(word) {}
  void add(double word) { sum = xtile::add_2s(sum, word); }
  double result() const { return sum; }
};
/// Sums f16 numbers in f32.
struct HalfSum {
  double low, high;

  explicit HalfSum(double word) : low(xtile::unpkl_2s(word)), high(xtile::unpkh_2s(word)) {}
  void add(double word) {
    low = xtile::add_2s(low, xtile::unpkl_2s(word));
    high = xtile::add_2s(high, xtile::unpkh_2s(word));
  }
  double result() const { return xtile::pack_4h(low, high); }
};

/// Adds arrays elementwise, in order.
template <class Sum>
inline void add_up(const SumCall* call) {
  const Part part = call->parts.mine();
  for (unsigned i = 0; i < part.words; ++i) {
    Sum sum(*shifted(call->own, part.offset + 8 * i));
    const double* at = shifted(call->further, part.offset + 8 * i);
    for (unsigned n = call->arrays; n != 0; --n) {
      sum.add(*at);
      at = shifted(at, call->bytes);
    }
    *shifted(call->sum, part.offset + 8 * i) = sum.result();
  }
  xtile::xctl<0>();
}

/// In `parts` a word is four parameters.
struct ScaledUpdate {
  void* weights;  // operands of products
  const void* gradient;
  float* first;  // moments, or the velocity
  float* second;
  float* masters;
  const Rate* rate;
  const Scale* scaling;
  float first_decay, second_decay, epsilon;
  Parts<Part> parts;
  template <class Number>
  Number* weights_from(unsigned parameter) const {
    return static_cast<Number*>(weights) + parameter;
  }
  template <class Number>
  const Number* gradient_from(unsigned parameter) const {
    return static_cast<const Number*>(gradient) + parameter;
  }
};

/// Four gradients, as two words of f32.
struct Four {
  double low, high;

  Four(const double*& at, Half /*type*/) {
    const double word = xtile::fld_p<8>(at);
    low = xtile::unpkl_2s(word);
    high = xtile::unpkh_2s(word);
  }
  Four(const double*& at, float /*type*/) {
    low = xtile::fld_p<8>(at);
    high = xtile::fld_p<8>(at);
  }
};

/// Momentum on f32 masters, which are rounded to Weight if that is f16.
template <class Weight, class Gradient>
inline void momentum(const ScaledUpdate* call) {
  const Part part = call->parts.mine();
  if (call->scaling->skipped == 0.0F) {
    const unsigned begin = part.offset / 2;
    const double* gradient = reinterpret_cast<const double*>(call->gradient_from<Gradient>(begin));
    double* weights = reinterpret_cast<double*>(call->weights_from<Weight>(begin));
    double* velocity = reinterpret_cast<double*>(call->first + begin);
    double* masters = reinterpret_cast<double*>(call->masters + begin);
    const double decay = xtile::splat_s(call->first_decay);
    const double rate = xtile::splat_s(-call->rate->step_size);
    const double inverse = xtile::splat_s(call->scaling->inverse);
    for (unsigned n = part.words; n != 0; --n) {
      const Four four(gradient, Gradient());
      const double low = xtile::fma_2s(decay, velocity[0], xtile::mul_2s(four.low, inverse));
      const double high = xtile::fma_2s(decay, velocity[1], xtile::mul_2s(four.high, inverse));
      xtile::fsd_p<8>(low, velocity);
      xtile::fsd_p<8>(high, velocity);
      const double first = xtile::fma_2s(rate, low, masters[0]);
      const double second = xtile::fma_2s(rate, high, masters[1]);
      xtile::fsd_p<8>(first, masters);
      xtile::fsd_p<8>(second, masters);
      if constexpr (sizeof(Weight) == 2) xtile::fsd_p<8>(xtile::pack_4h(first, second), weights);
    }
  }
  xtile::xctl<0>();
}

template <class Weight, class Gradient>
inline void adam(const ScaledUpdate* call) {
  const Part part = call->parts.mine();
  if (call->scaling->skipped == 0.0F) {
    const unsigned begin = part.offset / 2;
    const double* gradient = reinterpret_cast<const double*>(call->gradient_from<Gradient>(begin));
    double* weights = reinterpret_cast<double*>(call->weights_from<Weight>(begin));
    double* first = reinterpret_cast<double*>(call->first + begin);
    double* second = reinterpret_cast<double*>(call->second + begin);
    float* masters = call->masters + begin;
    const double inverse = xtile::splat_s(call->scaling->inverse);
    const Adam adam(call->first_decay, call->second_decay, call->epsilon, call->rate);
    for (unsigned n = part.words; n != 0; --n) {
      const Four four(gradient, Gradient());
      const double* const made = reinterpret_cast<const double*>(masters);
      adam.follow(xtile::mul_2s(four.low, inverse), first, second, masters);
      adam.follow(xtile::mul_2s(four.high, inverse), first, second, masters);
      if constexpr (sizeof(Weight) == 2) xtile::fsd_p<8>(xtile::pack_4h(made[0], made[1]), weights);
    }
  }
  xtile::xctl<0>();
}

}  // namespace

extern "C" void training_schedule(const Schedule* call) { schedule<next_step, false>(call); }
extern "C" void training_schedule_scaled(const Schedule* call) { schedule<next_step, true>(call); }
extern "C" void training_schedule_waves(const Schedule* call) {
  schedule<next_step_of_wave, false>(call);
}
extern "C" void training_schedule_waves_scaled(const Schedule* call) {
  schedule<next_step_of_wave, true>(call);
}

/// Momentum: velocity = decay velocity + gradient; weights -= rate velocity.
extern "C" void training_momentum(const Update* call) {
  const Part part = call->parts.mine();
  const double* gradient = reinterpret_cast<const double*>(shifted(call->gradient, part.offset));
  double* velocity = reinterpret_cast<double*>(shifted(call->first, part.offset));
  double* weights = reinterpret_cast<double*>(shifted(call->weights, part.offset));
  const double decay = xtile::splat_s(call->first_decay);
  const double rate = xtile::splat_s(-call->rate->step_size);
  for (unsigned n = part.words; n != 0; --n) {
    const double v = xtile::fma_2s(decay, *velocity, xtile::fld_p<8>(gradient));
    xtile::fsd_p<8>(v, velocity);
    xtile::fsd_p<8>(xtile::fma_2s(rate, v, *weights), weights);
  }
  xtile::xctl<0>();
}

extern "C" void training_adam(const Update* call) {
  const Part part = call->parts.mine();
  const double* gradient = reinterpret_cast<const double*>(shifted(call->gradient, part.offset));
  double* first = reinterpret_cast<double*>(shifted(call->first, part.offset));
  double* second = reinterpret_cast<double*>(shifted(call->second, part.offset));
  float* weights = shifted(call->weights, part.offset);
  const Adam adam(call->first_decay, call->second_decay, call->epsilon, call->rate);
  for (unsigned n = part.words; n != 0; --n)
    adam.follow(xtile::fld_p<8>(gradient), first, second, weights);
  xtile::xctl<0>();
}

extern "C" void training_overflow(const OverflowCall* call) {
  look<xtile::fma_2s, same, same>(call);
}
extern "C" void training_overflow_f16(const OverflowCall* call) {
  look<xtile::fma_4h, xtile::unpkl_2s, xtile::unpkh_2s>(call);
}

/// ORs flags; one worker.
extern "C" void training_any(const Flags* call) {
  *call->any = any_of(call->flags, call->count);
  xtile::xctl<0>();
}

/// Skips this step if a flag reports overflow, and sets the next scale; only the first worker acts.
extern "C" void training_rescale(const RescaleCall* call) {
  if (xtile::worker() == 0) {
    Scale* const state = call->state;
    const unsigned any = any_of(call->flags, call->count);
    const unsigned good = any != 0 ? 0 : state->good + 1;
    const bool grows = call->window != 0 && good == call->window;
    const float scale = state->scale;
    state->used = scale;
    state->inverse = constant(1.0F) / scale;
    state->skipped = any != 0 ? constant(1.0F) : 0.0F;
    state->good = grows ? 0 : good;
    if (call->window != 0 && any != 0) state->scale = scale * constant(0.5F);
    if (grows && scale < call->largest) state->scale = scale + scale;
  }
  xtile::xctl<0>();
}

extern "C" void training_sum(const SumCall* call) { add_up<SingleSum>(call); }
extern "C" void training_sum_f16(const SumCall* call) { add_up<HalfSum>(call); }

// Named by the types of weights and gradients. Angles have no f16 weights: f32_f32.
extern "C" void training_momentum_f16_f16(const ScaledUpdate* call) { momentum<Half, Half>(call); }
extern "C" void training_momentum_f16_f32(const ScaledUpdate* call) { momentum<Half, float>(call); }
extern "C" void training_momentum_f32_f32(const ScaledUpdate* call) {
  momentum<float, float>(call);
}
extern "C" void training_adam_f16_f16(const ScaledUpdate* call) { adam<Half, Half>(call); }
extern "C" void training_adam_f16_f32(const ScaledUpdate* call) { adam<Half, float>(call); }
extern "C" void training_adam_f32_f32(const ScaledUpdate* call) { adam<float, float>(call); }
