// Tile code of a time step, the best plan's: weights lie in blocks of pairs of neurons, marks are
// bits.
#include "kernels/snn/rows.h"

using namespace snn;
using xtile::constant;  // there is no pool of constants

namespace {

#define SNN_FSDP(fs, p) ".insn s 0x2b, 7, " fs ", 8(" p ")\n"
#define SNN_FMA(fd, a, b, c) ".insn r4 0x5b, 0, 1, " fd ", " a ", " b ", " c "\n"
#define SNN_SEL(fd, m, a, b) ".insn r4 0x5b, 1, 1, " fd ", " m ", " a ", " b "\n"
#define SNN_MASK(rd, a) ".insn r 0x5b, 6, 4, " rd ", " a ", x0\n"
#define SNN_GT(fd, a, b) ".insn r 0x5b, 5, 13, " fd ", " a ", " b "\n"
#define SNN_MOVE(fd, a) "fsgnj.d " fd ", " a ", " a "\n"

/// Lists of all samples; from a list to the next one of the same worker.
struct Lists {
  const unsigned* first;
  unsigned stride, next;  // bytes
};

struct Step {
  unsigned samples, pairs, workers;
  unsigned recurrent;  // the second lists too
  unsigned wide;       // blocks of more than a pair
  const double* weights;
  unsigned rows, inputs;  // of weights; those before the second lists'
  const double* biases;   // and two streams of parameters, a few words a pair each
  const double* first;
  const double* second;
  double* states;  // [slot][sample][pair][value]
  unsigned slot;   // bytes
  unsigned mask;   // of the slots' numbers
  const unsigned* clock;
  unsigned* marks;              // [sample][8 pairs]
  unsigned full, last, unused;  // words before the last, whose pairs, and its bits of none
  double* drives;  // [sample][pair]: sums of weights; null: where states of one value are made
  double* sums;    // of states over time
  unsigned next;   // words of a value, from a sample's to the next one's of the same worker
  unsigned others, other_marks;  // words of values and marks that lie between them
  Lists lists[1];
};

/// What is summed up next: blocks one behind the other.
struct Block {
  const double* weights;
  const double* bias;
  double* out;  // of this worker's first sample
};

SNN_INLINE const unsigned* of_worker(const Lists& lists) {
  return at(lists.first, xtile::worker() * lists.stride);
}

/// The sums of the next kPairs pairs, of all samples of this worker: the bias, then the weights of
/// spikes in the order of the list.
template <unsigned kPairs>
SNN_INLINE void drive(const Step*& call, Block& block) {
  const double none = xtile::splat_s(constant(-0.0F));
  const unsigned* list = of_worker(call->lists[0]);
  double* out = block.out;
  for (unsigned b = xtile::worker(); b < call->samples; b += call->workers) {
    Rows<kPairs> sums;
    if constexpr (kPairs == 2) sums.plane = call->rows;
    sums.begin(block.bias, none);
    sums.add(block.weights, list + kHeader, list[0]);
    if (call->recurrent != 0) {
      const Lists& own = (&call->lists[0])[1];
      const unsigned* second = at(own.first, b * own.stride);
      // The blocks of two pairs are two of one, planes.
      sums.add(block.weights + call->inputs * (kPairs == 2 ? 1 : kPairs), second + kHeader,
               second[0]);
    }
    sums.end(out);
    call = again(call);
    list = at(list, call->lists[0].next);
    out += call->next;
  }
  block.weights += call->rows * kPairs;
  block.bias += kPairs;
  block.out += kPairs;
}

/// Where this worker's states begin, before (0) or after (1) the step.
SNN_INLINE double* states(const Step* call, unsigned after, unsigned values) {
  return at(call->states, ((*call->clock + after) & call->mask) * call->slot) +
         xtile::worker() * call->pairs * values;
}

/// Where the sums of weights of its samples are.
SNN_INLINE double* sums_of(const Step* call) {
  if (call->drives == nullptr) return states(call, 1, 1);
  return call->drives + xtile::worker() * call->pairs;
}

/// The sums of all samples of this worker.
SNN_INLINE const Step* drives(const Step* call) {
  Block next{call->weights, call->biases, sums_of(call)};
  unsigned left = call->pairs;
  if (call->wide != 0) {
    for (unsigned eights = opaque(left >> 3); eights != 0; --eights) drive<8>(call, next);
    if ((left & 4) == 0) {
      left &= 3;
    } else {
      if ((left & 2) != 0)
        drive<6>(call, next);
      else
        drive<4>(call, next);
      left &= 1;
    }
  }
  for (unsigned twos = opaque(left >> 1); twos != 0; --twos) drive<2>(call, next);
  if ((left & 1) != 0) drive<1>(call, next);
  return again(call);
}

/// States before and after of a sample, and what the next pair's are made with.
struct Cursor {
  const double* old;
  double* made;
  const double* input;
  const double* first;   // stream of parameters
  const double* second;  // the other one
};

/// Neurons above their thresholds, two bits a pair, the first pair's foremost: those that spike,
/// and those that are listed, which spikes are too.
struct Bits {
  unsigned spikes, listed;

  /// A word of marks is for eight pairs: those that spike in its lower half, others that carry
  /// gradient in its upper half.
  SNN_INLINE unsigned mark() const { return spikes | (spikes ^ listed) << 16; }
};

/// What differs from kind to kind: next() takes so many pairs one step further. Of the streams
/// some words are a pair's (stream_values() in program.h); thresholds are the first words of the
/// second.
struct Lif {
  static constexpr unsigned kValues = 1;
  // alpha, gain; threshold, second: 14 instructions and 8 slots a pair.
  SNN_INLINE static void next(Cursor& at, unsigned pairs, Bits& bits) {
    const double zero = xtile::splat_s(0.0F);
    double spiked, above, u, input, alpha, gain, threshold, second, kept;
    asm volatile(
        ".balign 8\n"
        "li %[spikes], 0\n" SNN_MOVE("%[spiked]", "%[zero]")
        "li %[listed], 0\n" SNN_MOVE("%[above]", "%[zero]")
        "nop\n" SNN_RPT("%[n]", "2f")
        // The last pair's bits, this pair's state.
        SNN_LD2("%[u]", "%[in]", "%[old]", "%[input]") SNN_MASK("s6", "%[spiked]")
        SNN_LD2("%[al]", "%[th]", "%[p]", "%[q]") SNN_MASK("s7", "%[above]")
        "sh2add %[spikes], %[spikes], s6\n" SNN_MUL("%[k]", "%[al]", "%[u]")
        SNN_LD2("%[ga]", "%[se]", "%[p]", "%[q]") SNN_GT("%[spiked]", "%[u]", "%[th]")
        "sh2add %[listed], %[listed], s7\n"
        SNN_SEL("%[k]", "%[spiked]", "%[zero]", "%[k]") SNN_FMA("%[k]", "%[ga]", "%[in]", "%[k]")
        SNN_GT("%[spiked]", "%[k]", "%[th]") SNN_FSDP("%[k]", "%[made]")
        SNN_GT("%[above]", "%[k]", "%[se]")
        "2:\n" SNN_MASK("s6", "%[spiked]") SNN_MASK("s7", "%[above]")
        "sh2add %[spikes], %[spikes], s6\n"
        "sh2add %[listed], %[listed], s7\n"
        : [spikes] "=&r"(bits.spikes), [listed] "=&r"(bits.listed), [spiked] "=&f"(spiked),
          [above] "=&f"(above), [u] "=&f"(u), [in] "=&f"(input),
          [al] "=&f"(alpha), [th] "=&f"(threshold), [ga] "=&f"(gain), [se] "=&f"(second),
          [k] "=&f"(kept), [old] "+r"(at.old), [input] "+r"(at.input), [made] "+r"(at.made),
          [p] "+r"(at.first), [q] "+r"(at.second)
        : [n] "r"(pairs), [zero] "f"(zero)
        : "memory");
  }
};

/// Where two neurons stand after their step, and their thresholds.
struct Stand {
  double v, threshold, second;
};

/// A pair at a time.
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

/// A read-out: states follow their input and add up over time. Of the streams a word is a pair's:
/// alpha; gain.
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
