// Tile code of a time step: updates states by the spikes received. A 64-bit word holds two neurons,
// a plane the weights of two neurons from all inputs.
#include "kernels/snn/tile_code.h"

using namespace snn;

namespace {

struct Update {
  unsigned samples, pairs, sources;
  const double* weights;
  unsigned plane;  // bytes from a pair's weights to the next pair's
  const Neurons* neurons;
  double* states;  // [slot][sample][pair][value]
  unsigned slot;   // bytes
  unsigned mask;   // for slot numbers
  const unsigned* clock;
  unsigned* marks;  // [sample][neuron]: kSpike, kCarrier or 0
  double* sums;     // of states over time
  Source source[1];
};

/// Code specific to a kind of neuron. `old` and `made` are a pair's states before and after.
struct Lif {
  static constexpr unsigned kValues = 1;
  static double make(const Neurons& n, const double* old, double* made, double input, double zero) {
    const double u = *old;
    const double kept = xtile::sel(xtile::gt_2s(u, n.threshold), zero, xtile::mul_2s(n.alpha, u));
    return *made = xtile::fma_2s(n.gain, input, kept);
  }
};
struct CubaLif {
  static constexpr unsigned kValues = 2;
  static double make(const Neurons& n, const double* old, double* made, double input, double zero) {
    const double u = old[0];
    const double kept = xtile::sel(xtile::gt_2s(u, n.threshold), zero, xtile::mul_2s(n.alpha, u));
    const double current = xtile::fma_2s(n.beta, old[1], input);
    made[1] = current;
    return made[0] = xtile::fma_2s(n.gain, current, kept);
  }
};
struct Adaptive {
  static constexpr unsigned kValues = 2;
  static double make(const Neurons& n, const double* old, double* made, double input, double zero) {
    const double u = old[0];
    const double v = xtile::sub_2s(u, xtile::mul_2s(n.strength, old[1]));
    const double spiked = xtile::gt_2s(v, n.threshold);
    const double kept = xtile::sel(spiked, zero, xtile::mul_2s(n.alpha, u));
    const double a = xtile::fma_2s(n.rho, old[1], xtile::sel(spiked, n.keep, zero));
    const double made_u = xtile::fma_2s(n.gain, input, kept);
    made[0] = made_u;
    made[1] = a;
    return xtile::sub_2s(made_u, xtile::mul_2s(n.strength, a));
  }
};

double packed_words(unsigned word) {
  return xtile::splat_s(constant(__builtin_bit_cast(float, word)));
}

/// Pointers that advance over a sample's pairs, so that no pair needs a multiplication.
struct Cursor {
  const Neurons* n;
  const double* plane;
  const double* old;
  double* made;
  double* marks;

  /// `values`: state words per pair.
  __attribute__((always_inline)) Cursor(const Update* call, unsigned sample, unsigned values)
      : n(call->neurons), plane(call->weights) {
    const unsigned pairs = sample * call->pairs;
    const unsigned clock = *call->clock;
    old = shifted(call->states, (clock & call->mask) * call->slot) + pairs * values;
    made = shifted(call->states, ((clock + 1) & call->mask) * call->slot) + pairs * values;
    marks = reinterpret_cast<double*>(call->marks) + pairs;
  }
};

/// Adds the weights of a source's spikes.
template <unsigned kPairs>
SNN_INLINE void add_source(const Update* call, const Source* source, unsigned sample,
                           const double* plane, double& first, double& second) {
  const unsigned* list = shifted(source->lists, sample * source->stride);
  const double* rows = shifted(plane, source->rows);
  if constexpr (kPairs == 1)
    first = gather_sum(rows, list + kHeader, list[0], first);
  else
    gather_sums(rows, shifted(rows, call->plane), list + kHeader, list[0], first, second);
}

/// Advances the next kPairs pairs of a sample by one step.
template <class Kind, unsigned kPairs>
SNN_INLINE void step(const Update* call, unsigned sample, Cursor& cursor) {
  double first = cursor.n[0].bias;
  double second = cursor.n[kPairs - 1].bias;
  add_source<kPairs>(call, call->source, sample, cursor.plane, first, second);
  call = again(call);
  if (call->sources > 1)
    add_source<kPairs>(call, &call->source[0] + 1, sample, cursor.plane, first, second);
  call = again(call);
  const double zero = xtile::splat_s(0.0F);
  const double spike = packed_words(kSpike);
  const double carries = packed_words(kCarrier);
  for (unsigned i = 0; i < kPairs; ++i) {
    const double v = Kind::make(*cursor.n, cursor.old, cursor.made, i == 0 ? first : second, zero);
    const double weak = xtile::sel(xtile::gt_2s(v, cursor.n->second), carries, zero);
    xtile::fsd_p<8>(xtile::sel(xtile::gt_2s(v, cursor.n->threshold), spike, weak), cursor.marks);
    cursor.n += 1;
    cursor.old += Kind::kValues;
    cursor.made += Kind::kValues;
    cursor.plane = shifted(cursor.plane, call->plane);
  }
}

template <class Kind>
SNN_INLINE void update(const Update* call) {
  for (unsigned b = xtile::worker(); b < call->samples; b += xtile::workers()) {
    Cursor cursor(call, b, Kind::kValues);
    for (unsigned twos = call->pairs / 2; twos != 0; --twos) step<Kind, 2>(call, b, cursor);
    if (call->pairs % 2 != 0) step<Kind, 1>(call, b, cursor);
  }
  xtile::xctl<0>();
}

}  // namespace

extern "C" void snn_update_lif(const Update* call) { update<Lif>(call); }
extern "C" void snn_update_cuba_lif(const Update* call) { update<CubaLif>(call); }
extern "C" void snn_update_adaptive(const Update* call) { update<Adaptive>(call); }

/// A read-out: updates the states and adds them to their sums over time.
extern "C" void snn_update_integrator(const Update* call) {
  for (unsigned b = xtile::worker(); b < call->samples; b += xtile::workers())
    for (unsigned pair = 0; pair < call->pairs; ++pair) {
      const Neurons& n = call->neurons[pair];
      double input = n.bias;
      const Source* source = call->source;
      for (unsigned left = call->sources; left != 0; --left, ++source) {
        const unsigned* list = shifted(source->lists, b * source->stride);
        const double* rows = shifted(call->weights, pair * call->plane + source->rows);
        input = gather_sum(rows, list + kHeader, list[0], input);
      }
      call = again(call);
      const unsigned clock = *call->clock;
      const unsigned place = b * call->pairs + pair;
      const double old = (shifted(call->states, (clock & call->mask) * call->slot))[place];
      const double u = xtile::fma_2s(n.gain, input, xtile::mul_2s(n.alpha, old));
      (shifted(call->states, ((clock + 1) & call->mask) * call->slot))[place] = u;
      call->sums[place] = xtile::add_2s(call->sums[place], u);
    }
  xtile::xctl<0>();
}
