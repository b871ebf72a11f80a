// Tile code of a time step backwards: gradients of states, of weights and of the spikes that a tile
// received.
#include "kernels/snn/tile_code.h"

using namespace snn;

namespace {

struct StateGradient {
  unsigned samples, pairs, neurons;
  const Neurons* parameters;
  const double* states;  // [slot][sample][pair][value]
  unsigned slot;         // bytes
  const unsigned* clock;
  double* gradients;    // of states, [sample][pair][value]
  double* inputs;       // what gradients of inputs are times a spike, [sample][pair]
  const unsigned* key;  // the first neuron's number
  const unsigned* lists;
  unsigned stride;  // bytes from list to list
  const float* spike_gradients;
  unsigned spike_stride;  // bytes from sample to sample
  float steepness;        // beta of the surrogate
};

/// 1 / (steepness |v - threshold| + 1)^2: SuperSpike, arXiv 1705.11146.
__attribute__((always_inline)) inline float surrogate(float v, float threshold, float steepness) {
  const float one = xtile::constant(1.0F);
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

/// The neuron's part in words of pairs.
template <class T>
T* lane(T* words, unsigned neuron, unsigned values) {
  return words + (neuron / 2) * values * 2 + neuron % 2;
}

/// Looks for the tile's neurons in a list; returns the place behind the next one, or null. Seven
/// ids beyond the list may be read.
__attribute__((always_inline)) inline const unsigned* next_own(const unsigned* id, unsigned left,
                                                               unsigned first, unsigned neurons) {
  for (unsigned eights = (left + 7) / 8; eights != 0; --eights) {
#pragma unroll
    for (unsigned i = 0; i < 8; ++i)
      if (xtile::lw_p<4>(id) - first < neurons) return id;
  }
  return nullptr;
}

/// Gradients of a sample's states: what the step behind leaves of them.
template <class Kind>
__attribute__((always_inline)) inline void decay(const StateGradient* call, unsigned sample) {
  const unsigned place = sample * call->pairs * Kind::kValues;
  const double* state = at(call->states, (*call->clock + 1) * call->slot) + place;
  double* gradient = call->gradients + place;
  const Neurons* n = call->parameters;
  const double zero = xtile::splat_s(0.0F);
  for (unsigned pair = call->pairs; pair != 0; --pair, ++n) {
    const double spiked = xtile::gt_2s(Kind::position(*n, state), n->threshold);
    const double kept = xtile::mul_2s(n->alpha, gradient[0]);
    gradient[0] = xtile::sel(spiked, zero, kept);
    Kind::keep(*n, gradient);
    state += Kind::kValues;
    gradient += Kind::kValues;
  }
}

template <class Kind>
__attribute__((always_inline)) inline void meet(const StateGradient* call, unsigned sample,
                                                unsigned neuron, float of_spike) {
  const unsigned place = sample * call->pairs * Kind::kValues;
  const double* states = at(call->states, (*call->clock + 1) * call->slot) + place;
  constexpr unsigned kWords = sizeof(Neurons) / 8;
  const float* n = lane(reinterpret_cast<const float*>(call->parameters), neuron, kWords);
  Kind::hit(n, lane(reinterpret_cast<const float*>(states), neuron, Kind::kValues),
            lane(reinterpret_cast<float*>(call->gradients + place), neuron, Kind::kValues),
            of_spike, call->steepness);
}

template <class Kind>
__attribute__((always_inline)) inline void state_gradient(const StateGradient* call) {
  for (unsigned b = xtile::worker(); b < call->samples; b += xtile::workers()) {
    decay<Kind>(call, b);
    call = again(call);
    const unsigned* id = at(call->lists, b * call->stride) + kHeader;
    const unsigned* const end = id + id[1 - static_cast<int>(kHeader)];
    while (id < end) {
      id = next_own(id, static_cast<unsigned>(end - id), call->key[0], call->neurons);
      if (id == nullptr || id > end) break;
      const float* of_spikes = at(call->spike_gradients, b * call->spike_stride);
      const unsigned place =
          static_cast<unsigned>(id - (at(call->lists, b * call->stride) + kHeader));
      meet<Kind>(call, b, id[-1] - call->key[0], of_spikes[place - 1]);
      call = again(call);
    }
    call = again(call);
    double* gradient = call->gradients + b * call->pairs * Kind::kValues;
    double* input = call->inputs + b * call->pairs;
    const Neurons* n = call->parameters;
    for (unsigned pair = call->pairs; pair != 0; --pair, ++n) {
      xtile::fsd_p<8>(Kind::input(*n, gradient), input);
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

namespace {

struct WeightGradient {
  unsigned samples, pairs, copies;
  double* gradients;     // [copy][pair][row]
  unsigned copy, plane;  // bytes
  const double* inputs;  // [sample][pair]
  Source source;
};

}  // namespace

/// Adds to the gradients of the weights of spikes. Each worker has pairs of neurons of its own, or,
/// if there are more workers than pairs, a copy of the gradients and every so many samples.
extern "C" void snn_weight_gradient(const WeightGradient* call) {
  const unsigned worker = xtile::worker();
  unsigned copy = 0;
  unsigned pair = worker;
  unsigned next = xtile::workers();
  if (call->copies > 1) {
    for (; pair >= call->pairs; ++copy) pair -= call->pairs;
    next = call->pairs;
  }
  if (copy < call->copies) {
    for (; pair < call->pairs; pair += next) {
      double* plane =
          at(call->gradients, copy * call->copy + pair * call->plane + call->source.rows);
      for (unsigned b = copy; b < call->samples; b += call->copies) {
        const unsigned* list = at(call->source.lists, b * call->source.stride);
        scatter_add(plane, list + kHeader, list[0], call->inputs[b * call->pairs + pair]);
      }
    }
  }
  xtile::xctl<0>();
}

namespace {

struct InputGradient {
  unsigned samples, pairs;
  const double* weights;
  unsigned plane;
  const double* inputs;  // [sample][pair]
  float* gradients;
  unsigned stride;  // bytes from sample to sample
  Source source;
};

}  // namespace

/// Gradients of listed spikes, as far as this tile's neurons go.
extern "C" void snn_input_gradient(const InputGradient* call) {
  for (unsigned b = xtile::worker(); b < call->samples; b += xtile::workers()) {
    const unsigned* list = at(call->source.lists, b * call->source.stride);
    const double* plane = at(call->weights, call->source.rows);
    const double* input = call->inputs + b * call->pairs;
    float* out = at(call->gradients, b * call->stride);
    gather_dot(plane, list + kHeader, list[1], *input, out);
    for (unsigned pair = 1; pair < call->pairs; ++pair) {
      plane = at(plane, call->plane);
      ++input;
      gather_add_dot(plane, list + kHeader, list[1], *input, out);
    }
  }
  xtile::xctl<0>();
}

namespace {

struct PairGradients {
  unsigned samples;
  const double* weights;
  double* gradients;     // [copy][row]
  unsigned copy;         // bytes
  const double* inputs;  // [sample]
  float* spikes;         // gradients of listed spikes
  unsigned stride;       // bytes from sample to sample
  Source source;
};

}  // namespace

/// Both of a tile of two neurons whose workers have a copy of the weights' gradients each.
extern "C" void snn_pair_gradients(const PairGradients* call) {
  const unsigned worker = xtile::worker();
  for (unsigned b = worker; b < call->samples; b += xtile::workers()) {
    const unsigned* list = at(call->source.lists, b * call->source.stride);
    const double* weights = at(call->weights, call->source.rows);
    double* plane = at(call->gradients, worker * call->copy + call->source.rows);
    float* out = at(call->spikes, b * call->stride);
    const unsigned* ids = list + kHeader;
    const double change = call->inputs[b];
    scatter_and_dot(plane, weights, ids, list[0], change, out);
    gather_dot(weights, ids, list[1] - list[0], change, out);
  }
  xtile::xctl<0>();
}

namespace {

struct Sum {
  const double* parts;
  double* sum;
  unsigned words, stride, count;  // bytes from part to part; parts
};

}  // namespace

/// Adds up parts in their order, word by word, four words of a worker at a time.
extern "C" void snn_sum(const Sum* call) {
  const unsigned step = xtile::workers() * 4;
  for (unsigned i = xtile::worker() * 4; i < call->words; i += step) {
    const double* part = call->parts + i;
    double* out = call->sum + i;
    unsigned left = call->words - i;
    if (left >= 4) {
      sum_words(part, call->stride, call->count, out);
      continue;
    }
    for (; left != 0; --left) sum_word(part++, call->stride, call->count, out++);
  }
  xtile::xctl<0>();
}

namespace {

struct LogitGradient {
  const unsigned* list;
  const float* logits;  // gradients by neuron
  float* gradients;     // by place in the list
};

}  // namespace

/// Gradients of an output layer's listed spikes: those of the counts that they are added to.
extern "C" void snn_logit_gradient(const LogitGradient* call) {
  const unsigned listed = call->list[1];
  for (unsigned i = xtile::worker(); i < listed; i += xtile::workers())
    call->gradients[i] = call->logits[call->list[kHeader + i]];
  xtile::xctl<0>();
}
