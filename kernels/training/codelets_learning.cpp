// Tile code of training: learning rates, and the optimisers in f32.
#include "kernels/training/tile_code.h"

using namespace training;

namespace {

struct Schedule {
  Rate* rate;
  unsigned every;  // the rate falls so after so many steps; 0: never
  float factor;
  float first_decay, second_decay;  // zero: no moments
  unsigned warm_up;
  float wave;  // the angle of a step
  float lowest;
  const Scale* scaling;  // of f16
};

/// Counts the step that begins and what the moments are worth.
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

}  // namespace

/// The step size of the step that begins; one worker.
extern "C" void training_schedule(const Schedule* call) {
  next_step(call);
  xtile::xctl<0>();
}

/// The same, unless the step is skipped: then it does not count.
extern "C" void training_schedule_scaled(const Schedule* call) {
  if (call->scaling->skipped == 0.0F) next_step(call);
  xtile::xctl<0>();
}

namespace {

/// The same where rates rise at first, or follow a wave.
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

}  // namespace

extern "C" void training_schedule_waves(const Schedule* call) {
  next_step_of_wave(call);
  xtile::xctl<0>();
}

extern "C" void training_schedule_waves_scaled(const Schedule* call) {
  if (call->scaling->skipped == 0.0F) next_step_of_wave(call);
  xtile::xctl<0>();
}

namespace {

struct Update {
  float* weights;
  const float* gradient;
  float* first;  // moments, or the velocity
  float* second;
  const Rate* rate;
  float first_decay, second_decay, epsilon;
  Parts<Part> parts;
};

}  // namespace

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
