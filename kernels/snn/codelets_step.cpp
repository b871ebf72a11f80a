// Tile code of a time step where marks are bits: updates states by the sums of weights.
#include "kernels/snn/rows.h"

using namespace snn;

namespace {

/// The next pair's states before and after the step, its sum of weights and its parameters.
struct Cursor {
  const double* old;
  double* made;
  const double* input;
  const double* first;   // stream of parameters
  const double* second;  // the other one
};

/// Neurons above their thresholds, two bits per pair, the first pair highest: those that spike, and
/// those that are listed, spikes included.
struct Bits {
  unsigned spikes, listed;

  /// A word of marks for eight pairs: spikes in its lower half, neurons that carry gradient only in
  /// its upper half.
  SNN_INLINE unsigned mark() const { return spikes | (spikes ^ listed) << 16; }
};

/// Code specific to a kind of neuron: next() advances `pairs` pairs by one step. Each pair has
/// stream_values() words (program.h) in either stream; those of the second begin with the
/// thresholds.
struct Lif {
  static constexpr unsigned kValues = 1;
  // alpha, gain; threshold, second: 14 instructions and 8 slots a pair.
  SNN_INLINE static void next(Cursor& at, unsigned pairs, Bits& bits) {
    const double zero = xtile::splat_s(0.0F);
    double spiked, above, u, input, alpha, gain, threshold, second, kept;
    asm volatile(
        ".balign 8\n"
        "li %[spikes], 0\n"
        "fsgnj.d %[spiked], %[zero], %[zero]\n"
        "li %[listed], 0\n"
        "fsgnj.d %[above], %[zero], %[zero]\n"
        "nop\n"
        "rpt %[n], 2f\n"
        // The previous pair's bits, this pair's state.
        "ld2 %[u], %[in], %[old], %[input]\n"
        "mask.2s s6, %[spiked]\n"
        "ld2 %[al], %[th], %[p], %[q]\n"
        "mask.2s s7, %[above]\n"
        "sh2add %[spikes], %[spikes], s6\n"
        "mul.2s %[k], %[al], %[u]\n"
        "ld2 %[ga], %[se], %[p], %[q]\n"
        "gt.2s %[spiked], %[u], %[th]\n"
        "sh2add %[listed], %[listed], s7\n"
        "sel %[k], %[spiked], %[zero], %[k]\n"
        "fma.2s %[k], %[ga], %[in], %[k]\n"
        "gt.2s %[spiked], %[k], %[th]\n"
        "fsd.p %[k], %[made], 8\n"
        "gt.2s %[above], %[k], %[se]\n"
        "2:\n"
        "mask.2s s6, %[spiked]\n"
        "mask.2s s7, %[above]\n"
        "sh2add %[spikes], %[spikes], s6\n"
        "sh2add %[listed], %[listed], s7\n"
        : [spikes] "=&r"(bits.spikes), [listed] "=&r"(bits.listed), [spiked] "=&f"(spiked),
          [above] "=&f"(above), [u] "=&f"(u), [in] "=&f"(input), [al] "=&f"(alpha),
          [th] "=&f"(threshold), [ga] "=&f"(gain), [se] "=&f"(second), [k] "=&f"(kept),
          [old] "+r"(at.old), [input] "+r"(at.input), [made] "+r"(at.made), [p] "+r"(at.first),
          [q] "+r"(at.second)
        : [n] "r"(pairs), [zero] "f"(zero)
        : "memory");
  }
};

/// Two neurons after their step: the values to compare, and their thresholds.
struct Stand {
  double v, threshold, second;
};

/// Advances the pairs one at a time.
template <class Kind>
SNN_INLINE void each(Cursor& at, unsigned pairs, Bits& bits) {
  bits = {0, 0};
  for (; pairs != 0; --pairs) {
    const Stand stand = Kind::step(at);
    bits.spikes = 4 * bits.spikes + xtile::mask_2s(xtile::gt_2s(stand.v, stand.threshold));
    bits.listed = 4 * bits.listed + xtile::mask_2s(xtile::gt_2s(stand.v, stand.second));
  }
}

struct CubaLif {
  static constexpr unsigned kValues = 2;
  // alpha, gain, beta; threshold, second, -
  __attribute__((always_inline)) static Stand step(Cursor& at) {
    const double u = xtile::fld_p<8>(at.old);
    const double threshold = xtile::fld_p<8>(at.second);
    const double kept = xtile::sel(xtile::gt_2s(u, threshold), xtile::splat_s(0.0F),
                                   xtile::mul_2s(xtile::fld_p<8>(at.first), u));
    const double gain = xtile::fld_p<8>(at.first);
    const double current = xtile::fma_2s(xtile::fld_p<8>(at.first), xtile::fld_p<8>(at.old),
                                         xtile::fld_p<8>(at.input));
    const double made = xtile::fma_2s(gain, current, kept);
    xtile::fsd_p<8>(made, at.made);
    xtile::fsd_p<8>(current, at.made);
    return {made, threshold, xtile::fld_p<16>(at.second)};
  }
  SNN_INLINE static void next(Cursor& at, unsigned pairs, Bits& bits) {
    each<CubaLif>(at, pairs, bits);
  }
};

struct Adaptive {
  static constexpr unsigned kValues = 2;
  // alpha, gain, rho, strength; threshold, second, 1 - rho, -
  __attribute__((always_inline)) static Stand step(Cursor& at) {
    const double zero = xtile::splat_s(0.0F);
    const double u = xtile::fld_p<8>(at.old);
    const double a = xtile::fld_p<8>(at.old);
    const double decayed = xtile::mul_2s(xtile::fld_p<8>(at.first), u);
    const double gain = xtile::fld_p<8>(at.first);
    const double rho = xtile::fld_p<8>(at.first);
    const double strength = xtile::fld_p<8>(at.first);
    const double threshold = xtile::fld_p<8>(at.second);
    const double second = xtile::fld_p<8>(at.second);
    const double spiked = xtile::gt_2s(xtile::sub_2s(u, xtile::mul_2s(strength, a)), threshold);
    const double kept = xtile::sel(spiked, zero, decayed);
    const double raised =
        xtile::fma_2s(rho, a, xtile::sel(spiked, xtile::fld_p<16>(at.second), zero));
    const double made = xtile::fma_2s(gain, xtile::fld_p<8>(at.input), kept);
    xtile::fsd_p<8>(made, at.made);
    xtile::fsd_p<8>(raised, at.made);
    return {xtile::sub_2s(made, xtile::mul_2s(strength, raised)), threshold, second};
  }
  SNN_INLINE static void next(Cursor& at, unsigned pairs, Bits& bits) {
    each<Adaptive>(at, pairs, bits);
  }
};

template <class Kind>
SNN_INLINE void step_all(const Step* call) {
  constexpr unsigned kWord = 8;  // pairs of a word of marks
  call = drives(call);
  Cursor at;
  at.old = again(states(call, 0, Kind::kValues));
  at.made = again(states(call, 1, Kind::kValues));
  at.input = again(sums_of(call));
  unsigned* marks = again(call->marks + xtile::worker() * (call->full + 1));
  for (unsigned b = xtile::worker(); b < call->samples; b += call->workers) {
    at.first = call->first;
    at.second = call->second;
    Bits bits;
    for (unsigned full = call->full; full != 0; --full) {
      Kind::next(at, opaque(kWord), bits);
      xtile::sw_p<4>(bits.mark(), marks);
    }
    Kind::next(at, call->last, bits);
    call = again(call);
    xtile::sw_p<4>(bits.mark() << call->unused, marks);
    call = again(call);
    // Samples of other workers lie between this one's.
    const unsigned others = call->others;
    at.old += others * Kind::kValues;
    at.made += others * Kind::kValues;
    at.input += others;
    marks += call->other_marks;
  }
  xtile::xctl<0>();
}

}  // namespace

extern "C" void snn_step_lif(const Step* call) { step_all<Lif>(call); }
extern "C" void snn_step_cuba_lif(const Step* call) { step_all<CubaLif>(call); }
extern "C" void snn_step_adaptive(const Step* call) { step_all<Adaptive>(call); }

/// A read-out: updates the states and adds them to their sums over time. The streams have one word
/// per pair: alpha; gain.
extern "C" void snn_step_integrator(const Step* call) {
  call = drives(call);
  const double* input = again(sums_of(call));
  const double* old = again(states(call, 0, 1));
  double* made = again(states(call, 1, 1));
  double* sum = again(call->sums + xtile::worker() * call->pairs);
  for (unsigned b = xtile::worker(); b < call->samples; b += call->workers) {
    const double* alpha = call->first;
    const double* gain = call->second;
    for (unsigned n = call->pairs; n != 0; --n) {
      const double kept = xtile::mul_2s(xtile::fld_p<8>(alpha), xtile::fld_p<8>(old));
      const double u = xtile::fma_2s(xtile::fld_p<8>(gain), xtile::fld_p<8>(input), kept);
      xtile::fsd_p<8>(u, made);
      xtile::fsd_p<8>(xtile::add_2s(*sum, u), sum);
    }
    call = again(call);
    input += call->others;
    old += call->others;
    made += call->others;
    sum += call->others;
  }
  xtile::xctl<0>();
}
