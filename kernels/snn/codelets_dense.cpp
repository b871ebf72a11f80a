// Tile code of networks with dense activations: elementwise operations on matrices. A worker's part
// is a contiguous range of 64-bit words.
#include "kernels/snn/tile_code.h"

using namespace snn;

namespace {

/// States of all steps, [slot][element], on the tile that has the elements.
struct History {
  double* states;
  unsigned slot;  // bytes
  const unsigned* clock;

  double* of(unsigned ahead, unsigned offset) const {
    return shifted(states, (*clock + ahead) * slot + offset);
  }
};

struct DenseUpdate {
  History history;
  const double* sums;
  double* spikes;  // of this step
  double* totals;  // of spikes or states over time; null: none
  float alpha, gain, threshold;
  Parts<Part> parts;
};

struct DenseFetch {
  History history;
  double* matrix;
  float threshold;  // for spikes; unused for inputs
  Parts<Part> parts;
};

/// Writes the numbers of the clock's slot to `matrix`, or 1 where they exceed the threshold and 0
/// elsewhere.
template <bool kSpikes>
SNN_INLINE void fetch(const DenseFetch* call) {
  const Part part = call->parts.mine();
  const double* from = call->history.of(0, part.offset);
  double* to = shifted(call->matrix, part.offset);
  const double threshold = xtile::splat_s(call->threshold);
  const double zero = xtile::splat_s(0.0F);
  const double one = xtile::splat_s(constant(1.0F));
  for (unsigned n = part.words; n != 0; --n) {
    const double each = xtile::fld_p<8>(from);
    xtile::fsd_p<8>(kSpikes ? xtile::sel(xtile::gt_2s(each, threshold), one, zero) : each, to);
  }
  xtile::xctl<0>();
}

struct DenseGradient {
  History history;
  double* states;        // gradients of states
  const double* spikes;  // gradients of spikes, or of a read-out's states
  double* inputs;        // gradients of inputs
  float alpha, gain, threshold, second, steepness;
  Parts<Part> parts;
};

struct DenseAdd {
  double* sum;
  const double* change;
  Parts<Part> parts;
};

}  // namespace

extern "C" void snn_dense_lif(const DenseUpdate* call) {
  const Part part = call->parts.mine();
  const double* old = call->history.of(0, part.offset);
  double* made = call->history.of(1, part.offset);
  const double* sum = shifted(call->sums, part.offset);
  double* spike = shifted(call->spikes, part.offset);
  const double alpha = xtile::splat_s(call->alpha);
  const double gain = xtile::splat_s(call->gain);
  const double threshold = xtile::splat_s(call->threshold);
  const double zero = xtile::splat_s(0.0F);
  const double one = xtile::splat_s(constant(1.0F));
  for (unsigned n = part.words; n != 0; --n) {
    const double u = xtile::fld_p<8>(old);
    const double kept = xtile::sel(xtile::gt_2s(u, threshold), zero, xtile::mul_2s(alpha, u));
    const double next = xtile::fma_2s(gain, xtile::fld_p<8>(sum), kept);
    xtile::fsd_p<8>(next, made);
    xtile::fsd_p<8>(xtile::sel(xtile::gt_2s(next, threshold), one, zero), spike);
  }
  if (call->totals != nullptr) {
    double* total = shifted(call->totals, part.offset);
    const double* add = shifted(call->spikes, part.offset);
    for (unsigned n = part.words; n != 0; --n)
      xtile::fsd_p<8>(xtile::add_2s(*total, xtile::fld_p<8>(add)), total);
  }
  xtile::xctl<0>();
}

extern "C" void snn_dense_integrator(const DenseUpdate* call) {
  const Part part = call->parts.mine();
  const double* old = call->history.of(0, part.offset);
  double* made = call->history.of(1, part.offset);
  const double* sum = shifted(call->sums, part.offset);
  double* total = shifted(call->totals, part.offset);
  const double alpha = xtile::splat_s(call->alpha);
  const double gain = xtile::splat_s(call->gain);
  for (unsigned n = part.words; n != 0; --n) {
    const double kept = xtile::mul_2s(alpha, xtile::fld_p<8>(old));
    const double next = xtile::fma_2s(gain, xtile::fld_p<8>(sum), kept);
    xtile::fsd_p<8>(next, made);
    xtile::fsd_p<8>(xtile::add_2s(*total, next), total);
  }
  xtile::xctl<0>();
}

/// Copies the clock's slot to `matrix`.
extern "C" void snn_dense_inputs(const DenseFetch* call) { fetch<false>(call); }

/// Recomputes the spikes of the clock's slot from its states.
extern "C" void snn_dense_spikes(const DenseFetch* call) { fetch<true>(call); }

extern "C" void snn_dense_lif_gradient(const DenseGradient* call) {
  const Part part = call->parts.mine();
  const float* state = reinterpret_cast<const float*>(call->history.of(1, part.offset));
  float* gradient = reinterpret_cast<float*>(shifted(call->states, part.offset));
  const float* of_spike = reinterpret_cast<const float*>(shifted(call->spikes, part.offset));
  float* input = reinterpret_cast<float*>(shifted(call->inputs, part.offset));
  const float threshold = call->threshold;
  const float one = constant(1.0F);
  for (unsigned n = 2 * part.words; n != 0; --n) {
    const float u = xtile::flw_p<4>(state);
    const float spike = xtile::flw_p<4>(of_spike);
    float of_u = u > threshold ? 0.0F : call->alpha * *gradient;
    if (u > call->second) {
      const float base = call->steepness * __builtin_fabsf(u - threshold) + one;
      of_u += spike / (base * base);
    }
    xtile::fsw_p<4>(of_u, gradient);
    xtile::fsw_p<4>(call->gain * of_u, input);
  }
  xtile::xctl<0>();
}

extern "C" void snn_dense_integrator_gradient(const DenseGradient* call) {
  const Part part = call->parts.mine();
  double* gradient = shifted(call->states, part.offset);
  const double* of_state = shifted(call->spikes, part.offset);
  double* input = shifted(call->inputs, part.offset);
  const double alpha = xtile::splat_s(call->alpha);
  const double gain = xtile::splat_s(call->gain);
  for (unsigned n = part.words; n != 0; --n) {
    const double of_u = xtile::fma_2s(alpha, *gradient, xtile::fld_p<8>(of_state));
    xtile::fsd_p<8>(of_u, gradient);
    xtile::fsd_p<8>(xtile::mul_2s(gain, of_u), input);
  }
  xtile::xctl<0>();
}

extern "C" void snn_dense_add(const DenseAdd* call) {
  const Part part = call->parts.mine();
  double* sum = shifted(call->sum, part.offset);
  const double* change = shifted(call->change, part.offset);
  for (unsigned n = part.words; n != 0; --n)
    xtile::fsd_p<8>(xtile::add_2s(*sum, xtile::fld_p<8>(change)), sum);
  xtile::xctl<0>();
}
