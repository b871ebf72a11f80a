// Tile code of a time step, the best plan's: weights lie in blocks of up to eight pairs of neurons
// [input][pair], so that a spike is a row of 64-bit words side by side; marks are bits.
#include "kernels/snn/tile_code.h"

using namespace snn;
using xtile::constant;  // there is no pool of constants

namespace {

#define SNN_LWP(rd, p) ".insn i 0x2b, 3, " rd ", " p ", 4\n"
#define SNN_LD2(fd, fe, p, q) ".insn r4 0x5b, 4, 0, " fd ", " p ", " q ", " fe "\n"
#define SNN_FSDP(fs, p) ".insn s 0x2b, 7, " fs ", 8(" p ")\n"
#define SNN_FMA(fd, a, b, c) ".insn r4 0x5b, 0, 1, " fd ", " a ", " b ", " c "\n"
#define SNN_SEL(fd, m, a, b) ".insn r4 0x5b, 1, 1, " fd ", " m ", " a ", " b "\n"
#define SNN_MASK(rd, a) ".insn r 0x5b, 6, 4, " rd ", " a ", x0\n"
#define SNN_GT(fd, a, b) ".insn r 0x5b, 5, 13, " fd ", " a ", " b "\n"
// Of the rows of two ids: words of the first, words of the second, both added to the sums. The
// second's are in registers that functions preserve: a worker is called by none.
#define SNN_W(i) "%[w" #i "]"
#define SNN_V(i) "fs" #i
#define SNN_ADD_W(i) SNN_ADD("%[s" #i "]", "%[s" #i "]", SNN_W(i))
#define SNN_ADD_V(i) SNN_ADD("%[s" #i "]", "%[s" #i "]", SNN_V(i))
#define SNN_LD_W(i, j) SNN_LD2(SNN_W(i), SNN_W(j), "%[a]", "%[a2]")
#define SNN_LD_V(i, j) SNN_LD2(SNN_V(i), SNN_V(j), "%[b]", "%[b2]")
// No word: adding it changes nothing.
#define SNN_NO_V(i) "fsgnj.d " SNN_V(i) ", %[none], %[none]\n"
// A row begins at `times` its number; a second pointer goes along from its middle on.
#define SNN_AT(row, middle, times, half) \
  times " %[" row "], %[" row            \
        "], %[by]\n"                     \
        "add %[" row "], %[" row         \
        "], %[rows]\n"                   \
        "addi %[" middle "], %[" row "], " half "\n"
#define SNN_ROWS_OPERANDS                                                      \
  [ids] "+r"(ids), [a] "=&r"(a), [a2] "=&r"(a2), [b] "=&r"(b), [b2] "=&r"(b2), \
      [n] "+r"(n) : [rows] "r"(rows), [by] "r"(by), [none] "f"(none) : "memory"

struct Step {
  unsigned samples, pairs, workers;
  unsigned recurrent;  // a second source
  unsigned wide;       // blocks of more than a pair
  const double* weights;
  unsigned rows;             // of weights
  const double* parameters;  // biases; two streams, a few words a pair each
  double* states;            // [slot][sample][pair][value]
  unsigned slot;             // bytes
  unsigned mask;             // of the slots' numbers
  const unsigned* clock;
  unsigned* marks;  // [sample][8 pairs]
  double* drives;   // [sample][pair]: sums of weights; null: where states of one value are made
  double* sums;     // of states over time
  Source source[1];
};

/// sums[i] += word i of the rows of `n` ids, of eight words each: two ids in 16 slots. Loads of two
/// rows follow on each other.
__attribute__((always_inline)) inline void add_rows_of_8(const double* rows, const unsigned* ids,
                                                         unsigned n, double* sums) {
  double w0, w1, w2, w3, w4, w5, w6, w7;
  unsigned a, a2, b, b2;
  const unsigned by = 64;
  const double none = xtile::splat_s(constant(-0.0F));
  asm volatile(
      "andi %[b], %[n], 1\n"
      "srli %[n], %[n], 1\n"
      "bnez %[b], 1f\n" SNN_NO_V(0) SNN_NO_V(1) SNN_NO_V(2) SNN_NO_V(3) SNN_NO_V(4) SNN_NO_V(5)
      SNN_NO_V(6) SNN_NO_V(7) "j 2f\n"
      "1:\n" SNN_LWP("%[b]", "%[ids]") SNN_AT("b", "b2", "mul", "32") SNN_LD_V(0, 4)
      SNN_LD_V(1, 5) SNN_LD_V(2, 6) SNN_LD_V(3, 7)
      ".balign 8\n"
      "2: beqz %[n], 3f\n" SNN_RPT("%[n]", "3f")
      SNN_ADD_V(0) SNN_LWP("%[a]", "%[ids]") SNN_ADD_V(1) SNN_LWP("%[b]", "%[ids]")
      SNN_ADD_V(2) "mul %[a], %[a], %[by]\n" SNN_ADD_V(3) "mul %[b], %[b], %[by]\n"
      SNN_ADD_V(4) "add %[a], %[a], %[rows]\n" SNN_ADD_V(5) "add %[b], %[b], %[rows]\n"
      SNN_ADD_V(6) "addi %[a2], %[a], 32\n" SNN_ADD_V(7) SNN_LD_W(0, 4)
      "addi %[b2], %[b], 32\n" SNN_ADD_W(0) SNN_LD_W(1, 5) SNN_ADD_W(4) SNN_LD_W(2, 6)
      SNN_ADD_W(1) SNN_LD_W(3, 7) SNN_ADD_W(5) SNN_LD_V(0, 4) SNN_ADD_W(2) SNN_LD_V(1, 5)
      SNN_ADD_W(6) SNN_LD_V(2, 6) SNN_ADD_W(3) SNN_LD_V(3, 7) SNN_ADD_W(7)
      "3:\n" SNN_ADD_V(0) SNN_ADD_V(1) SNN_ADD_V(2) SNN_ADD_V(3) SNN_ADD_V(4) SNN_ADD_V(5)
      SNN_ADD_V(6) SNN_ADD_V(7)
      : [s0] "+f"(sums[0]), [s1] "+f"(sums[1]), [s2] "+f"(sums[2]), [s3] "+f"(sums[3]),
        [s4] "+f"(sums[4]), [s5] "+f"(sums[5]), [s6] "+f"(sums[6]), [s7] "+f"(sums[7]),
        [w0] "=&f"(w0), [w1] "=&f"(w1), [w2] "=&f"(w2), [w3] "=&f"(w3), [w4] "=&f"(w4),
        [w5] "=&f"(w5), [w6] "=&f"(w6), [w7] "=&f"(w7), SNN_ROWS_OPERANDS);
}

/// The same of rows of six words: two ids in 14 slots.
__attribute__((always_inline)) inline void add_rows_of_6(const double* rows, const unsigned* ids,
                                                         unsigned n, double* sums) {
  double w0, w1, w2, w3, w4, w5;
  unsigned a, a2, b, b2;
  const unsigned by = 48;
  const double none = xtile::splat_s(constant(-0.0F));
  asm volatile(
      "andi %[b], %[n], 1\n"
      "srli %[n], %[n], 1\n"
      "bnez %[b], 1f\n" SNN_NO_V(0) SNN_NO_V(1) SNN_NO_V(2) SNN_NO_V(3) SNN_NO_V(4) SNN_NO_V(5)
      "j 2f\n"
      "1:\n" SNN_LWP("%[b]", "%[ids]") SNN_AT("b", "b2", "mul", "24") SNN_LD_V(0, 3)
      SNN_LD_V(1, 4) SNN_LD_V(2, 5)
      ".balign 8\n"
      "2: beqz %[n], 3f\n" SNN_RPT("%[n]", "3f")
      SNN_ADD_V(0) SNN_LWP("%[a]", "%[ids]") SNN_ADD_V(1) SNN_LWP("%[b]", "%[ids]")
      SNN_ADD_V(2) "mul %[a], %[a], %[by]\n" SNN_ADD_V(3) "mul %[b], %[b], %[by]\n"
      SNN_ADD_V(4) "add %[a], %[a], %[rows]\n" SNN_ADD_V(5) "add %[b], %[b], %[rows]\n"
      "addi %[a2], %[a], 24\n" SNN_LD_W(0, 3)
      "addi %[b2], %[b], 24\n" SNN_ADD_W(0) SNN_LD_W(1, 4) SNN_ADD_W(3) SNN_LD_W(2, 5)
      SNN_ADD_W(1) SNN_LD_V(0, 3) SNN_ADD_W(4) SNN_LD_V(1, 4) SNN_ADD_W(2) SNN_LD_V(2, 5)
      SNN_ADD_W(5)
      "3:\n" SNN_ADD_V(0) SNN_ADD_V(1) SNN_ADD_V(2) SNN_ADD_V(3) SNN_ADD_V(4) SNN_ADD_V(5)
      : [s0] "+f"(sums[0]), [s1] "+f"(sums[1]), [s2] "+f"(sums[2]), [s3] "+f"(sums[3]),
        [s4] "+f"(sums[4]), [s5] "+f"(sums[5]), [w0] "=&f"(w0), [w1] "=&f"(w1), [w2] "=&f"(w2),
        [w3] "=&f"(w3), [w4] "=&f"(w4), [w5] "=&f"(w5), SNN_ROWS_OPERANDS);
}

/// The same of rows of four words: two ids in 12 slots.
__attribute__((always_inline)) inline void add_rows_of_4(const double* rows, const unsigned* ids,
                                                         unsigned n, double* sums) {
  double w0, w1, w2, w3;
  unsigned a, a2, b, b2;
  const unsigned by = 32;
  const double none = xtile::splat_s(constant(-0.0F));
  asm volatile(
      "andi %[b], %[n], 1\n"
      "srli %[n], %[n], 1\n"
      "bnez %[b], 1f\n" SNN_NO_V(0) SNN_NO_V(1) SNN_NO_V(2) SNN_NO_V(3) "j 2f\n"
      "1:\n" SNN_LWP("%[b]", "%[ids]") SNN_AT("b", "b2", "mul", "16") SNN_LD_V(0, 2)
      SNN_LD_V(1, 3)
      ".balign 8\n"
      "2: beqz %[n], 3f\n" SNN_RPT("%[n]", "3f")
      SNN_ADD_V(0) SNN_LWP("%[a]", "%[ids]") SNN_ADD_V(1) SNN_LWP("%[b]", "%[ids]")
      SNN_ADD_V(2) "mul %[a], %[a], %[by]\n" SNN_ADD_V(3) "mul %[b], %[b], %[by]\n"
      "add %[a], %[a], %[rows]\n"
      "addi %[a2], %[a], 16\n"
      "add %[b], %[b], %[rows]\n" SNN_LD_W(0, 2)
      "addi %[b2], %[b], 16\n" SNN_ADD_W(0) SNN_LD_W(1, 3) SNN_ADD_W(2) SNN_LD_V(0, 2)
      SNN_ADD_W(1) SNN_LD_V(1, 3) SNN_ADD_W(3)
      "3:\n" SNN_ADD_V(0) SNN_ADD_V(1) SNN_ADD_V(2) SNN_ADD_V(3)
      : [s0] "+f"(sums[0]), [s1] "+f"(sums[1]), [s2] "+f"(sums[2]), [s3] "+f"(sums[3]),
        [w0] "=&f"(w0), [w1] "=&f"(w1), [w2] "=&f"(w2), [w3] "=&f"(w3), SNN_ROWS_OPERANDS);
}

/// Of a block of kPairs pairs: those of two are two blocks of one, planes.
template <unsigned kPairs>
__attribute__((always_inline)) inline void add_source(const Step* call, const Source* source,
                                                      unsigned sample, const double* block,
                                                      double* sums) {
  const unsigned* list = at(source->lists, sample * source->stride);
  const unsigned* ids = list + kHeader;
  const unsigned n = list[0];
  if (n == 0) return;
  const double* rows = at(block, source->rows * (kPairs == 2 ? 1 : kPairs));
  if constexpr (kPairs == 8) add_rows_of_8(rows, ids, n, sums);
  if constexpr (kPairs == 6) add_rows_of_6(rows, ids, n, sums);
  if constexpr (kPairs == 4) add_rows_of_4(rows, ids, n, sums);
  if constexpr (kPairs == 2) gather_sums(rows, rows + call->rows, ids, n, sums[0], sums[1]);
  if constexpr (kPairs == 1) sums[0] = gather_sum(rows, ids, n, sums[0]);
}

/// What is summed up next: blocks one behind the other.
struct Drive {
  const double* block;
  const double* bias;
  double* out;  // of the first sample
};

/// The sums of the next kPairs pairs, of all samples of this worker: the bias, then the weights of
/// spikes in the order of the list.
template <unsigned kPairs>
__attribute__((always_inline)) inline void drive(const Step*& call, Drive& next) {
  for (unsigned b = xtile::worker(); b < call->samples; b += call->workers) {
    double sums[kPairs];
#pragma clang loop unroll(full)
    for (unsigned i = 0; i < kPairs; ++i) sums[i] = next.bias[i];
    add_source<kPairs>(call, call->source, b, next.block, sums);
    call = again(call);
    if (call->recurrent != 0) add_source<kPairs>(call, &call->source[0] + 1, b, next.block, sums);
    call = again(call);
    double* out = next.out + b * call->pairs;
#pragma clang loop unroll(full)
    for (unsigned i = 0; i < kPairs; ++i) out[i] = sums[i];
  }
  next.block += call->rows * kPairs;
  next.bias += kPairs;
  next.out += kPairs;
}

/// Where a sample's states begin, before (0) or after (1) the step.
__attribute__((always_inline)) inline double* states(const Step* call, unsigned sample,
                                                     unsigned after, unsigned values) {
  return at(call->states, ((*call->clock + after) & call->mask) * call->slot) +
         sample * call->pairs * values;
}

/// Where the sums of weights of a sample are.
__attribute__((always_inline)) inline double* sums_of(const Step* call, unsigned sample) {
  if (call->drives == nullptr) return states(call, sample, 1, 1);
  return call->drives + sample * call->pairs;
}

/// The sums of all samples of this worker.
__attribute__((always_inline)) inline const Step* drives(const Step* call) {
  Drive next{call->weights, call->parameters, sums_of(call, 0)};
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

/// Neurons above their thresholds, two bits a pair, the first pair's foremost.
struct Bits {
  unsigned spikes = 0;
  unsigned listed = 0;
};

/// What differs from kind to kind: next() takes so many pairs one step further. Of the streams
/// kStream words are a pair's; thresholds are the first words of the second.
struct Lif {
  static constexpr unsigned kValues = 1, kStream = 2;
  // alpha, gain; threshold, second: 14 instructions and 8 slots a pair.
  static void next(Cursor& at, unsigned pairs, Bits& bits) {
    const double zero = xtile::splat_s(0.0F);
    double spiked = zero;
    double above = zero;
    double u, input, alpha, gain, threshold, second, kept;
    unsigned is, was;
    asm volatile(
        ".balign 8\n"
        "nop\n" SNN_RPT("%[n]", "2f")
        // The last pair's bits, this pair's state.
        SNN_LD2("%[u]", "%[in]", "%[old]", "%[input]") SNN_MASK("%[is]", "%[spiked]")
        SNN_LD2("%[al]", "%[th]", "%[p]", "%[q]") SNN_MASK("%[was]", "%[above]")
        "sh2add %[spikes], %[spikes], %[is]\n" SNN_MUL("%[k]", "%[al]", "%[u]")
        SNN_LD2("%[ga]", "%[se]", "%[p]", "%[q]") SNN_GT("%[spiked]", "%[u]", "%[th]")
        "sh2add %[listed], %[listed], %[was]\n"
        SNN_SEL("%[k]", "%[spiked]", "%[zero]", "%[k]") SNN_FMA("%[k]", "%[ga]", "%[in]", "%[k]")
        SNN_GT("%[spiked]", "%[k]", "%[th]") SNN_FSDP("%[k]", "%[made]")
        SNN_GT("%[above]", "%[k]", "%[se]")
        "2:\n" SNN_MASK("%[is]", "%[spiked]") SNN_MASK("%[was]", "%[above]")
        "sh2add %[spikes], %[spikes], %[is]\n"
        "sh2add %[listed], %[listed], %[was]\n"
        : [spikes] "+r"(bits.spikes), [listed] "+r"(bits.listed), [spiked] "+f"(spiked),
          [above] "+f"(above), [is] "=&r"(is), [was] "=&r"(was), [u] "=&f"(u), [in] "=&f"(input),
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
__attribute__((always_inline)) inline void each(Cursor& at, unsigned pairs, Bits& bits) {
  for (; pairs != 0; --pairs) {
    const Stand stand = Kind::step(at);
    bits.spikes = 4 * bits.spikes + xtile::mask_2s(xtile::gt_2s(stand.v, stand.threshold));
    bits.listed = 4 * bits.listed + xtile::mask_2s(xtile::gt_2s(stand.v, stand.second));
  }
}

struct CubaLif {
  static constexpr unsigned kValues = 2, kStream = 3;
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
  static void next(Cursor& at, unsigned pairs, Bits& bits) { each<CubaLif>(at, pairs, bits); }
};

struct Adaptive {
  static constexpr unsigned kValues = 2, kStream = 4;
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
  static void next(Cursor& at, unsigned pairs, Bits& bits) { each<Adaptive>(at, pairs, bits); }
};

/// A word of marks is for eight pairs: those that spike in its lower half, others that carry
/// gradient in its upper half.
template <class Kind>
__attribute__((always_inline)) inline void step_all(const Step* call) {
  call = drives(call);
  unsigned b = xtile::worker();
  Cursor at{states(call, b, 0, Kind::kValues), states(call, b, 1, Kind::kValues), sums_of(call, b),
            nullptr, nullptr};
  for (; b < call->samples; b += call->workers) {
    at.first = call->parameters + call->pairs;
    at.second = at.first + call->pairs * Kind::kStream;
    unsigned* marks = call->marks + b * ((call->pairs + 7) >> 3);
    for (unsigned left = call->pairs; left != 0;) {
      const unsigned n = opaque(left >> 3) != 0 ? 8 : left;
      left -= n;
      Bits bits;
      Kind::next(at, n, bits);
      const unsigned unused = 16 - 2 * n;
      xtile::sw_p<4>((bits.spikes | (bits.listed & ~bits.spikes) << 16) << unused, marks);
    }
    call = again(call);
    // Samples of other workers lie between this one's.
    const unsigned others = (call->workers - 1) * call->pairs;
    at.old += others * Kind::kValues;
    at.made += others * Kind::kValues;
    at.input += others;
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
  for (unsigned b = xtile::worker(); b < call->samples; b += call->workers) {
    const double* input = sums_of(call, b);
    const double* old = states(call, b, 0, 1);
    double* made = states(call, b, 1, 1);
    double* sum = call->sums + b * call->pairs;
    const double* alpha = call->parameters + call->pairs;
    const double* gain = alpha + call->pairs;
    for (unsigned n = call->pairs; n != 0; --n) {
      const double kept = xtile::mul_2s(xtile::fld_p<8>(alpha), xtile::fld_p<8>(old));
      const double u = xtile::fma_2s(xtile::fld_p<8>(gain), xtile::fld_p<8>(input), kept);
      xtile::fsd_p<8>(u, made);
      xtile::fsd_p<8>(xtile::add_2s(*sum, u), sum);
    }
    call = again(call);
  }
  xtile::xctl<0>();
}
