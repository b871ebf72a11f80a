#pragma once

#include "kernels/snn/tile_code.h"

/// Sums of rows of weights in blocks of eight, six or four pairs of neurons, [input][pair]: the row
/// of a spike is contiguous 64-bit words. Instructions are paired for machines with dual issue.
namespace snn {

#define SNN_LWP(rd, p) "lw.p " rd ", " p ", 4\n"
#define SNN_LD2(fd, fe, p, q) "ld2 " fd ", " fe ", " p ", " q "\n"

// Words of the rows of two ids. The second id's words and both pointers are in callee-saved
// registers: the compiler does not use them in code without a stack, and no caller of a worker
// needs them. Between pieces of assembly they hold words that are still to be added.
#define SNN_W(i) "%[w" #i "]"
#define SNN_V(i) "fs" #i
#define SNN_ADD_W(i) "add.2s %[s" #i "], %[s" #i "], " SNN_W(i) "\n"
#define SNN_ADD_V(i) "add.2s %[s" #i "], %[s" #i "], " SNN_V(i) "\n"
#define SNN_LD_W(i, j) SNN_LD2(SNN_W(i), SNN_W(j), "s2", "s3")
#define SNN_LD_V(i, j) SNN_LD2(SNN_V(i), SNN_V(j), "s4", "s5")
// `none` is -0: adding it changes nothing.
#define SNN_BEGIN(i, at) "fld " SNN_V(i) ", " at "(%[bias])\nfsgnj.d %[s" #i "], %[none], %[none]\n"
#define SNN_STORE(i, at) "fsd %[s" #i "], " at "(%[out])\n"
// With an odd number of ids, loads the first one's row while the pending words are added.
#define SNN_IF_ODD "andi s4, %[n], 1\nsrli %[n], %[n], 1\nbeqz s4, 1f\n.balign 8\n"
#define SNN_TWO_BY_TWO ".balign 8\n1: beqz %[n], 2f\nrpt %[n], 2f\n"
#define SNN_MUL_BY(row) "mul " row ", " row ", %[by]\n"
#define SNN_ADD_ROWS(row) "add " row ", " row ", %[rows]\n"

#define SNN_4(of) of(0), of(1), of(2), of(3)
#define SNN_6(of) SNN_4(of), of(4), of(5)
#define SNN_8(of) SNN_6(of), of(6), of(7)
#define SNN_MADE(i) [s##i] "=&f"(sums[i])
#define SNN_CHANGED(i) [s##i] "+f"(sums[i])
#define SNN_WORD(i) [w##i] "=&f"(w[i])

/// Starts, continues and stores sums of kPairs words.
template <unsigned kPairs>
struct Rows;

// clang-format off
#define SNN_ROWS_OF(pairs, bytes, begins, adds, ends)                                         \
  template <>                                                                                 \
  struct Rows<pairs> {                                                                        \
    double sums[pairs];                                                                       \
    SNN_INLINE void begin(const double* bias, double none) {                                  \
      asm volatile(".balign 8\n" begins                                                       \
                   : SNN_##pairs(SNN_MADE) : [bias] "r"(bias), [none] "f"(none) : "memory");  \
    }                                                                                         \
    SNN_INLINE void add(const double* rows, const unsigned* ids, unsigned n) {                \
      double w[pairs];                                                                        \
      asm volatile(adds "2:\n"                                                                \
                   : SNN_##pairs(SNN_CHANGED), SNN_##pairs(SNN_WORD), [ids] "+r"(ids),        \
                     [n] "+r"(n)                                                              \
                   : [rows] "r"(rows), [by] "r"(bytes) : "memory");                           \
    }                                                                                         \
    SNN_INLINE void end(double* out) {                                                        \
      asm volatile(".balign 8\n" ends                                                         \
                   : SNN_##pairs(SNN_CHANGED) : [out] "r"(out) : "memory");                   \
    }                                                                                         \
  }

// Two ids in 16 slots, one in 8.
SNN_ROWS_OF(8, 64,
  SNN_BEGIN(0, "0") SNN_BEGIN(1, "8") SNN_BEGIN(2, "16") SNN_BEGIN(3, "24") SNN_BEGIN(4, "32")
  SNN_BEGIN(5, "40") SNN_BEGIN(6, "48") SNN_BEGIN(7, "56"),
  SNN_IF_ODD
  SNN_LWP("s4", "%[ids]") SNN_ADD_V(0)    SNN_MUL_BY("s4") SNN_ADD_V(4)
  SNN_ADD_ROWS("s4") SNN_ADD_V(1)         "addi s5, s4, 32\n" SNN_ADD_V(5)
  SNN_LD_V(0, 4) SNN_ADD_V(2)             SNN_LD_V(1, 5) SNN_ADD_V(6)
  SNN_ADD_V(3) SNN_LD_V(2, 6)             SNN_ADD_V(7) SNN_LD_V(3, 7)
  SNN_TWO_BY_TWO
  SNN_ADD_V(0) SNN_LWP("s2", "%[ids]")    SNN_ADD_V(1) SNN_LWP("s4", "%[ids]")
  SNN_ADD_V(2) SNN_MUL_BY("s2")           SNN_ADD_V(3) SNN_MUL_BY("s4")
  SNN_ADD_V(4) SNN_ADD_ROWS("s2")         SNN_ADD_V(5) SNN_ADD_ROWS("s4")
  SNN_ADD_V(6) "addi s3, s2, 32\n"        SNN_ADD_V(7) SNN_LD_W(0, 4)
  "addi s5, s4, 32\n" SNN_ADD_W(0)        SNN_LD_W(1, 5) SNN_ADD_W(4)
  SNN_LD_W(2, 6) SNN_ADD_W(1)             SNN_LD_W(3, 7) SNN_ADD_W(5)
  SNN_LD_V(0, 4) SNN_ADD_W(2)             SNN_LD_V(1, 5) SNN_ADD_W(6)
  SNN_LD_V(2, 6) SNN_ADD_W(3)             SNN_LD_V(3, 7) SNN_ADD_W(7),
  SNN_ADD_V(0) SNN_ADD_V(1)               SNN_STORE(0, "0") SNN_ADD_V(2)
  SNN_STORE(1, "8") SNN_ADD_V(3)          SNN_STORE(2, "16") SNN_ADD_V(4)
  SNN_STORE(3, "24") SNN_ADD_V(5)         SNN_STORE(4, "32") SNN_ADD_V(6)
  SNN_STORE(5, "40") SNN_ADD_V(7)         SNN_STORE(6, "48") SNN_STORE(7, "56"));

// Two ids in 14 slots, one in 7.
SNN_ROWS_OF(6, 48,
  SNN_BEGIN(0, "0") SNN_BEGIN(1, "8") SNN_BEGIN(2, "16") SNN_BEGIN(3, "24") SNN_BEGIN(4, "32")
  SNN_BEGIN(5, "40"),
  SNN_IF_ODD
  SNN_LWP("s4", "%[ids]") SNN_ADD_V(0)    SNN_MUL_BY("s4") SNN_ADD_V(3)
  SNN_ADD_ROWS("s4") SNN_ADD_V(1)         "addi s5, s4, 24\n" SNN_ADD_V(4)
  SNN_LD_V(0, 3) SNN_ADD_V(2)             SNN_LD_V(1, 4) SNN_ADD_V(5)
  SNN_LD_V(2, 5)
  SNN_TWO_BY_TWO
  SNN_ADD_V(0) SNN_LWP("s2", "%[ids]")    SNN_ADD_V(1) SNN_LWP("s4", "%[ids]")
  SNN_ADD_V(2) SNN_MUL_BY("s2")           SNN_ADD_V(3) SNN_MUL_BY("s4")
  SNN_ADD_V(4) SNN_ADD_ROWS("s2")         SNN_ADD_V(5) SNN_ADD_ROWS("s4")
  "addi s3, s2, 24\n" SNN_LD_W(0, 3)      "addi s5, s4, 24\n" SNN_ADD_W(0)
  SNN_LD_W(1, 4) SNN_ADD_W(3)             SNN_LD_W(2, 5) SNN_ADD_W(1)
  SNN_LD_V(0, 3) SNN_ADD_W(4)             SNN_LD_V(1, 4) SNN_ADD_W(2)
  SNN_LD_V(2, 5) SNN_ADD_W(5),
  SNN_ADD_V(0) SNN_ADD_V(1)               SNN_STORE(0, "0") SNN_ADD_V(2)
  SNN_STORE(1, "8") SNN_ADD_V(3)          SNN_STORE(2, "16") SNN_ADD_V(4)
  SNN_STORE(3, "24") SNN_ADD_V(5)         SNN_STORE(4, "32") SNN_STORE(5, "40"));

// Two ids in 12 slots, one in 6.
SNN_ROWS_OF(4, 32,
  SNN_BEGIN(0, "0") SNN_BEGIN(1, "8") SNN_BEGIN(2, "16") SNN_BEGIN(3, "24"),
  SNN_IF_ODD
  SNN_LWP("s4", "%[ids]") SNN_ADD_V(0)    SNN_MUL_BY("s4") SNN_ADD_V(2)
  SNN_ADD_ROWS("s4") SNN_ADD_V(1)         "addi s5, s4, 16\n" SNN_ADD_V(3)
  SNN_LD_V(0, 2) SNN_LD_V(1, 3)
  SNN_TWO_BY_TWO
  SNN_ADD_V(0) SNN_LWP("s2", "%[ids]")    SNN_ADD_V(1) SNN_LWP("s4", "%[ids]")
  SNN_ADD_V(2) SNN_MUL_BY("s2")           SNN_ADD_V(3) SNN_MUL_BY("s4")
  SNN_ADD_ROWS("s2") "addi s3, s2, 16\n"  SNN_ADD_ROWS("s4") SNN_LD_W(0, 2)
  "addi s5, s4, 16\n" SNN_ADD_W(0)        SNN_LD_W(1, 3) SNN_ADD_W(2)
  SNN_LD_V(0, 2) SNN_ADD_W(1)             SNN_LD_V(1, 3) SNN_ADD_W(3),
  SNN_ADD_V(0) SNN_ADD_V(1)               SNN_STORE(0, "0") SNN_ADD_V(2)
  SNN_STORE(1, "8") SNN_ADD_V(3)          SNN_STORE(2, "16") SNN_STORE(3, "24"));
// clang-format on

/// For planes: the words of an id are not contiguous.
template <>
struct Rows<2> {
  double sums[2];
  unsigned plane;  // words

  SNN_INLINE void begin(const double* bias, double /*none*/) {
    sums[0] = bias[0];
    sums[1] = bias[1];
  }
  SNN_INLINE void add(const double* rows, const unsigned* ids, unsigned n) {
    gather_sums(rows, rows + plane, ids, n, sums[0], sums[1]);
  }
  SNN_INLINE void end(double* out) {
    out[0] = sums[0];
    out[1] = sums[1];
  }
};

template <>
struct Rows<1> {
  double sum;

  SNN_INLINE void begin(const double* bias, double /*none*/) { sum = *bias; }
  SNN_INLINE void add(const double* rows, const unsigned* ids, unsigned n) {
    sum = gather_sum(rows, ids, n, sum);
  }
  SNN_INLINE void end(double* out) { *out = sum; }
};

// Arguments of a time step of a tile's neurons where marks are bits, and the sums of weights that
// drive them.

/// Lists of all samples.
struct Lists {
  const unsigned* first;
  unsigned stride, next;  // bytes from list to list, and to the same worker's next list
};

struct Step {
  unsigned samples, pairs, workers;
  unsigned recurrent;  // nonzero: second lists too
  unsigned wide;       // nonzero: blocks of several pairs
  const double* weights;
  unsigned rows, inputs;  // of weights: all, and those of the first lists
  const double* biases;   // then two streams of parameters, a few words per pair each
  const double* first;
  const double* second;
  double* states;  // [slot][sample][pair][value]
  unsigned slot;   // bytes
  unsigned mask;   // for slot numbers
  const unsigned* clock;
  unsigned* marks;              // [sample][8 pairs]
  unsigned full, last, unused;  // full words; pairs of the last word; its unused bits
  double* drives;  // [sample][pair]: sums of weights; null: in the new states, of one value
  double* sums;    // of states over time
  unsigned next;   // words of a value from a sample to the same worker's next sample
  unsigned others, other_marks;  // words of values and of marks of other workers in between
  Lists lists[1];
};

/// The blocks to sum next.
struct Block {
  const double* weights;
  const double* bias;
  double* out;  // of this worker's first sample
};

SNN_INLINE const unsigned* of_worker(const Lists& lists) {
  return shifted(lists.first, xtile::worker() * lists.stride);
}

/// Computes the sums of the next kPairs pairs for all samples of this worker: the bias, then the
/// weights of spikes in the order of the list.
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
      const unsigned* second = shifted(own.first, b * own.stride);
      // Two pairs are two planes, blocks of one pair.
      sums.add(block.weights + call->inputs * (kPairs == 2 ? 1 : kPairs), second + kHeader,
               second[0]);
    }
    sums.end(out);
    call = again(call);
    list = shifted(list, call->lists[0].next);
    out += call->next;
  }
  block.weights += call->rows * kPairs;
  block.bias += kPairs;
  block.out += kPairs;
}

/// Address of this worker's first states, before (`after` 0) or after (1) the step.
SNN_INLINE double* states(const Step* call, unsigned after, unsigned values) {
  return shifted(call->states, ((*call->clock + after) & call->mask) * call->slot) +
         xtile::worker() * call->pairs * values;
}

/// Address of this worker's first sums of weights.
SNN_INLINE double* sums_of(const Step* call) {
  if (call->drives == nullptr) return states(call, 1, 1);
  return call->drives + xtile::worker() * call->pairs;
}

/// Computes the sums of weights of all samples of this worker.
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

}  // namespace snn
