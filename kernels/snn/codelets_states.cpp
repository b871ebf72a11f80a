// Tile code of a time step backwards: gradients of states.
#include "kernels/snn/tile_code.h"

using namespace snn;

namespace {

struct StateGradient {
  unsigned samples, pairs;
  const Neurons* parameters;
  const double* states;  // [slot][sample][pair][value]
  unsigned slot;         // bytes
  const unsigned* clock;
  double* gradients;          // of states, [sample][pair][value]
  double* inputs;             // what gradients of inputs are times a spike, [sample][pair]
  const unsigned* of_spikes;  // [sample][neuron], f32; kUnlisted: of none that is listed
  float steepness;            // beta of the surrogate
};

/// 1 / (steepness |v - threshold| + 1)^2: SuperSpike, arXiv 1705.11146.
SNN_INLINE float surrogate(float v, float threshold, float steepness) {
  const float one = constant(1.0F);
  const float base = steepness * __builtin_fabsf(v - threshold) + one;
  return one / (base * base);
}

/// Of one neuron, scalars: its values of a state, its parameters, the gradients of that state.
struct Lif {
  static constexpr unsigned kValues = 1;
  static double position(const Neurons& /*n*/, const double* state) { return state[0]; }
  __attribute__((always_inline)) static void hit(const float* n, const float* state,
                                                 float* gradient, float of_spike, float steepness) {
    const float threshold = n[offsetof_threshold()];
    gradient[0] += of_spike * surrogate(state[0], threshold, steepness);
  }
  static double input(const Neurons& n, double* gradient) {
    return xtile::mul_2s(n.gain, gradient[0]);
  }
  static void keep(const Neurons& /*n*/, double* /*gradient*/) {}
  static constexpr unsigned offsetof_threshold() {
    return __builtin_offsetof(Neurons, threshold) / 4;
  }
};

struct CubaLif : Lif {
  static constexpr unsigned kValues = 2;
  static double input(const Neurons& n, double* gradient) {
    return gradient[1] = xtile::fma_2s(n.gain, gradient[0], gradient[1]);
  }
  static void keep(const Neurons& n, double* gradient) {
    gradient[1] = xtile::mul_2s(n.beta, gradient[1]);
  }
};

/// gradient[1] is that of a, before the step times rho: dL/da' of the step behind.
struct Adaptive : Lif {
  static constexpr unsigned kValues = 2;
  static double position(const Neurons& n, const double* state) {
    return xtile::sub_2s(state[0], xtile::mul_2s(n.strength, state[1]));
  }
  __attribute__((always_inline)) static void hit(const float* n, const float* state,
                                                 float* gradient, float of_spike, float steepness) {
    const float strength = n[__builtin_offsetof(Neurons, strength) / 4];
    const float v = state[0] - strength * state[2];
    // keep() has multiplied by rho what reaches a' of the step behind; the spike reaches it by 1 -
    // rho.
    const float behind = gradient[2] * n[__builtin_offsetof(Neurons, through) / 4];
    const float of_v = (of_spike + behind) * surrogate(v, n[offsetof_threshold()], steepness);
    gradient[0] += of_v;
    gradient[2] -= strength * of_v;
  }
  static void keep(const Neurons& n, double* gradient) {
    gradient[1] = xtile::mul_2s(n.rho, gradient[1]);
  }
};

/// Gradients of a pair's states: what the step behind leaves of them, and what comes by the spikes
/// of those that are listed.
template <class Kind>
SNN_INLINE void pair_gradient(const Neurons* n, const double* state, double* gradient,
                              const unsigned*& of_spikes, float steepness) {
  const double spiked = xtile::gt_2s(Kind::position(*n, state), n->threshold);
  const double kept = xtile::mul_2s(n->alpha, gradient[0]);
  gradient[0] = xtile::sel(spiked, xtile::splat_s(0.0F), kept);
  Kind::keep(*n, gradient);
  for (unsigned lane = 0; lane < 2; ++lane) {
    const unsigned of_spike = xtile::lw_p<4>(of_spikes);
    if (of_spike != kUnlisted)
      Kind::hit(reinterpret_cast<const float*>(n) + lane,
                reinterpret_cast<const float*>(state) + lane,
                reinterpret_cast<float*>(gradient) + lane, __builtin_bit_cast(float, of_spike),
                steepness);
  }
  again(gradient);
}

template <class Kind>
SNN_INLINE void state_gradient(const StateGradient* call) {
  for (unsigned b = xtile::worker(); b < call->samples; b += xtile::workers()) {
    const unsigned first = b * call->pairs;
    const double* state =
        shifted(call->states, (*call->clock + 1) * call->slot) + first * Kind::kValues;
    double* gradient = call->gradients + first * Kind::kValues;
    double* input = call->inputs + first;
    const unsigned* of_spikes = call->of_spikes + 2 * first;
    const Neurons* n = call->parameters;
    for (unsigned pair = call->pairs; pair != 0; --pair, ++n) {
      pair_gradient<Kind>(n, state, gradient, of_spikes, call->steepness);
      xtile::fsd_p<8>(Kind::input(*n, gradient), input);
      state += Kind::kValues;
      gradient += Kind::kValues;
    }
  }
  xtile::xctl<0>();
}

}  // namespace

extern "C" void snn_state_gradient_lif(const StateGradient* call) { state_gradient<Lif>(call); }
extern "C" void snn_state_gradient_cuba_lif(const StateGradient* call) {
  state_gradient<CubaLif>(call);
}
extern "C" void snn_state_gradient_adaptive(const StateGradient* call) {
  state_gradient<Adaptive>(call);
}

namespace {

struct ReadoutGradient {
  unsigned samples, pairs;
  const Neurons* parameters;
  const double* logits;  // gradients of the sums over time, [sample][pair]
  double* gradients;
  double* inputs;
};

}  // namespace

extern "C" void snn_state_gradient_integrator(const ReadoutGradient* call) {
  for (unsigned b = xtile::worker(); b < call->samples; b += xtile::workers()) {
    const unsigned place = b * call->pairs;
    for (unsigned pair = 0; pair < call->pairs; ++pair) {
      const Neurons& n = call->parameters[pair];
      const double of_state =
          xtile::fma_2s(n.alpha, call->gradients[place + pair], call->logits[place + pair]);
      call->gradients[place + pair] = of_state;
      call->inputs[place + pair] = xtile::mul_2s(n.gain, of_state);
    }
  }
  xtile::xctl<0>();
}
