// Tile code of a backward time step: gradients of states, of weights and of the spikes that a tile
// received; sums of the latter, and their scatter to the array from which they are sent.
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
  double* inputs;             // gradients of the neurons' inputs, [sample][pair]
  const unsigned* of_spikes;  // [sample][neuron], f32; kUnlisted: neuron is not listed
  float steepness;            // beta of the surrogate
};

/// 1 / (steepness |v - threshold| + 1)^2: SuperSpike, arXiv 1705.11146.
SNN_INLINE float surrogate(float v, float threshold, float steepness) {
  const float one = constant(1.0F);
  const float base = steepness * __builtin_fabsf(v - threshold) + one;
  return one / (base * base);
}

/// hit() works on the scalars of one neuron: its parameters, state values and their gradients.
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

/// gradient[1] is the gradient of a: keep() turns dL/da' of the later step into rho dL/da'.
struct Adaptive : Lif {
  static constexpr unsigned kValues = 2;
  static double position(const Neurons& n, const double* state) {
    return xtile::sub_2s(state[0], xtile::mul_2s(n.strength, state[1]));
  }
  __attribute__((always_inline)) static void hit(const float* n, const float* state,
                                                 float* gradient, float of_spike, float steepness) {
    const float strength = n[__builtin_offsetof(Neurons, strength) / 4];
    const float v = state[0] - strength * state[2];
    // keep() has multiplied dL/da' of the later step by rho; this step's spike enters that a' with
    // factor 1 - rho.
    const float behind = gradient[2] * n[__builtin_offsetof(Neurons, through) / 4];
    const float of_v = (of_spike + behind) * surrogate(v, n[offsetof_threshold()], steepness);
    gradient[0] += of_v;
    gradient[2] -= strength * of_v;
  }
  static void keep(const Neurons& n, double* gradient) {
    gradient[1] = xtile::mul_2s(n.rho, gradient[1]);
  }
};

/// Gradients of a pair's states: what passes back from the later step, plus what listed neurons get
/// through their spikes.
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

struct ReadoutGradient {
  unsigned samples, pairs;
  const Neurons* parameters;
  const double* logits;  // gradients of the sums over time, [sample][pair]
  double* gradients;
  double* inputs;
};

struct WeightGradient {
  unsigned samples, pairs, copies;
  double* gradients;     // [copy][pair][row]
  unsigned copy, plane;  // bytes
  const double* inputs;  // [sample][pair]
  Source source;
};

struct InputGradient {
  unsigned samples, pairs;
  const double* weights;
  unsigned plane;
  const double* inputs;  // [sample][pair]
  float* gradients;
  unsigned stride;  // bytes from sample to sample
  Source source;
};

struct Sum {
  const double* parts;
  double* sum;
  unsigned words, stride, count;  // words of a part; bytes from part to part; number of parts
};

/// Sums one word over `count` parts, `stride` bytes from part to part.
SNN_INLINE void sum_word(const double* part, unsigned stride, unsigned count, double* out) {
  double sum = *part;
  for (; --count != 0;) {
    part = shifted(part, stride);
    sum = xtile::add_2s(sum, *part);
  }
  *out = sum;
}

/// Sums four adjacent words over all parts: 5 slots per part.
SNN_INLINE void sum_words(const double* part, unsigned stride, unsigned count, double* out) {
  double a = part[0];
  double b = part[1];
  double c = part[2];
  double d = part[3];
  double w;
  double v;
  count -= 1;
  asm volatile(
      ".balign 8\n"
      "beqz %[n], 2f\n"
      "rpt %[n], 2f\n"
      "add %[part], %[part], %[stride]\n"
      "fld %[w], 0(%[part])\n"
      "fld %[v], 8(%[part])\n"
      "add.2s %[a], %[a], %[w]\n"
      "fld %[w], 16(%[part])\n"
      "add.2s %[b], %[b], %[v]\n"
      "fld %[v], 24(%[part])\n"
      "add.2s %[c], %[c], %[w]\n"
      "add.2s %[d], %[d], %[v]\n"
      "2:\n"
      : [a] "+f"(a), [b] "+f"(b), [c] "+f"(c), [d] "+f"(d), [w] "=&f"(w), [v] "=&f"(v),
        [part] "+r"(part)
      : [n] "r"(count), [stride] "r"(stride)
      : "memory");
  out[0] = a;
  out[1] = b;
  out[2] = c;
  out[3] = d;
}

/// Scatters values from places in a list to neurons.
struct Placing {
  const unsigned* list;
  const float* gradients;  // by place in the list; null: none
  const float* logits;     // gradients by neuron, of outputs; null: none
  float* by_neuron;
};

}  // namespace

extern "C" void snn_state_gradient_lif(const StateGradient* call) { state_gradient<Lif>(call); }
extern "C" void snn_state_gradient_cuba_lif(const StateGradient* call) {
  state_gradient<CubaLif>(call);
}
extern "C" void snn_state_gradient_adaptive(const StateGradient* call) {
  state_gradient<Adaptive>(call);
}

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

/// Adds to the gradients of the weights of spikes. Each worker has its own pairs of neurons; with
/// several `copies`, workers share a pair, each with its own copy and every copies-th sample.
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
          shifted(call->gradients, copy * call->copy + pair * call->plane + call->source.rows);
      for (unsigned b = copy; b < call->samples; b += call->copies) {
        const unsigned* list = shifted(call->source.lists, b * call->source.stride);
        scatter_add(plane, list + kHeader, list[0], call->inputs[b * call->pairs + pair]);
      }
    }
  }
  xtile::xctl<0>();
}

/// This tile's part of the gradients of listed spikes: the sum over its neurons.
extern "C" void snn_input_gradient(const InputGradient* call) {
  for (unsigned b = xtile::worker(); b < call->samples; b += xtile::workers()) {
    const unsigned* list = shifted(call->source.lists, b * call->source.stride);
    const double* plane = shifted(call->weights, call->source.rows);
    const double* input = call->inputs + b * call->pairs;
    float* out = shifted(call->gradients, b * call->stride);
    gather_dot(plane, list + kHeader, list[1], *input, out);
    for (unsigned pair = 1; pair < call->pairs; ++pair) {
      plane = shifted(plane, call->plane);
      ++input;
      gather_add_dot(plane, list + kHeader, list[1], *input, out);
    }
  }
  xtile::xctl<0>();
}

/// Sums parts in their order; each worker takes four words at a time.
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

/// Sums parts of few words; each worker takes one word at a time: 2 slots per part.
extern "C" void snn_sum_few(const Sum* call) {
  for (unsigned i = xtile::worker(); i < call->words; i += xtile::workers()) {
    const double* part = call->parts + i;
    double sum = *part;
    double w = xtile::splat_s(constant(-0.0F));
    unsigned left = call->count - 1;
    asm volatile(
        ".balign 8\n"
        "beqz %[n], 2f\n"
        "rpt %[n], 2f\n"
        "add %[part], %[part], %[stride]\n"
        "add.2s %[sum], %[sum], %[w]\n"
        "fld %[w], 0(%[part])\n"
        "2:\n"
        "add.2s %[sum], %[sum], %[w]\n"
        : [sum] "+f"(sum), [w] "+f"(w), [part] "+r"(part)
        : [n] "r"(left), [stride] "r"(call->stride)
        : "memory");
    call->sum[i] = sum;
  }
  xtile::xctl<0>();
}

/// Scatters the gradients of listed spikes to their neurons: from the list, the logits, or the sum
/// of both.
extern "C" void snn_place(const Placing* call) {
  const unsigned worker = xtile::worker();
  const unsigned stride = xtile::workers();
  const unsigned* id = call->list + kHeader + worker;
  const unsigned* const end = call->list + kHeader + call->list[1];
  const float* gradient = call->gradients;
  const float* const logits = call->logits;
  float* const to = call->by_neuron;
  if (logits == nullptr) {
    for (gradient += worker; id < end; id += stride, gradient += stride) to[*id] = *gradient;
  } else if (gradient == nullptr) {
    for (; id < end; id += stride) to[*id] = logits[*id];
  } else {
    for (gradient += worker; id < end; id += stride, gradient += stride)
      to[*id] = *gradient + logits[*id];
  }
  xtile::xctl<0>();
}

/// Resets the gradients of a list's neurons to kUnlisted.
extern "C" void snn_displace(const Placing* call) {
  const unsigned stride = xtile::workers();
  const unsigned* const end = call->list + kHeader + call->list[1];
  const float unlisted = constant(__builtin_bit_cast(float, kUnlisted));
  float* const to = call->by_neuron;
  for (const unsigned* id = call->list + kHeader + xtile::worker(); id < end; id += stride)
    to[*id] = unlisted;
  xtile::xctl<0>();
}
