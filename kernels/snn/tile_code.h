#pragma once

#include "kernels/tile_code.h"

/// Shared by all tile code of the kernel: its loops over spikes, with instructions in pairs for
/// dual issue. Ids are 32-bit words below 65,536: gathers read their lower half. A list names no
/// neuron twice.
namespace snn {

using namespace kernels;

#define SNN_INLINE __attribute__((always_inline)) inline

/// Returns `sum` plus the words of `plane` at `n` ids, in order: 2 slots per id.
SNN_INLINE double gather_sum(const double* plane, const unsigned* ids, unsigned n, double sum) {
  if (n == 0) return sum;
  double w;
  n -= 1;
  asm volatile(
      "lgn.d %[w], %[plane], %[ids]\n"
      ".balign 8\n"
      "beqz %[n], 2f\n"
      "rpt %[n], 2f\n"
      "addi %[ids], %[ids], 4\n"
      "add.2s %[sum], %[sum], %[w]\n"
      "lgn.d %[w], %[plane], %[ids]\n"
      "2:\n"
      "add.2s %[sum], %[sum], %[w]\n"
      : [sum] "+f"(sum), [w] "=&f"(w), [ids] "+r"(ids)
      : [plane] "r"(plane), [n] "r"(n)
      : "memory");
  return sum;
}

/// Adds the words of two planes at `n` ids to one sum each: 3 slots per id.
SNN_INLINE void gather_sums(const double* first, const double* second, const unsigned* ids,
                            unsigned n, double& sum, double& other) {
  if (n == 0) return;
  double w;
  double v;
  n -= 1;
  asm volatile(
      "lgn.d %[w], %[p], %[ids]\n"
      "lgn.d %[v], %[q], %[ids]\n"
      ".balign 8\n"
      "beqz %[n], 2f\n"
      "rpt %[n], 2f\n"
      "addi %[ids], %[ids], 4\n"
      "add.2s %[sum], %[sum], %[w]\n"
      "lgn.d %[w], %[p], %[ids]\n"
      "add.2s %[other], %[other], %[v]\n"
      "lgn.d %[v], %[q], %[ids]\n"
      "2:\n"
      "add.2s %[sum], %[sum], %[w]\n"
      "add.2s %[other], %[other], %[v]\n"
      : [sum] "+f"(sum), [other] "+f"(other), [w] "=&f"(w), [v] "=&f"(v), [ids] "+r"(ids)
      : [p] "r"(first), [q] "r"(second), [n] "r"(n)
      : "memory");
}

/// Adds `change` to the words of `plane` at `n` ids: two ids in 6 slots.
SNN_INLINE void scatter_add(double* plane, const unsigned* ids, unsigned n, double change) {
  double w;
  double v;
  unsigned twos = n / 2;
  const unsigned* next = ids + 1;
  // The body begins in the middle of an aligned pair, so that its second word does not.
  asm volatile(
      ".balign 8\n"
      "nop\n"
      "beqz %[twos], 2f\n"
      "rpt %[twos], 2f\n"
      "lgn.d %[w], %[plane], %[ids]\n"
      "lgn.d %[v], %[plane], %[next]\n"
      "add.2s %[w], %[w], %[g]\n"
      "sgx.d %[w], %[plane], %[ids]\n"
      "add.2s %[v], %[v], %[g]\n"
      "sgx.d %[v], %[plane], %[next]\n"
      "addi %[ids], %[ids], 6\n"
      "addi %[next], %[next], 6\n"
      "2:\n"
      : [w] "=&f"(w), [v] "=&f"(v), [ids] "+r"(ids), [next] "+r"(next)
      : [plane] "r"(plane), [twos] "r"(twos), [g] "f"(change)
      : "memory");
  if (n & 1) plane[*ids] = xtile::add_2s(plane[*ids], change);
}

/// out[i] = the sum of both lanes of `change` times the word of `plane` at id i: 3 slots per id.
SNN_INLINE void gather_dot(const double* plane, const unsigned* ids, unsigned n, double change,
                           float* out) {
  if (n == 0) return;
  double w;
  double m;
  double s;
  n -= 1;
  asm volatile(
      "lgn.d %[w], %[plane], %[ids]\n"
      "addi %[ids], %[ids], 4\n"
      "mul.2s %[m], %[w], %[g]\n"
      ".balign 8\n"
      "beqz %[n], 2f\n"
      "rpt %[n], 2f\n"
      "lgn.d %[w], %[plane], %[ids]\n"
      "sum.2s %[s], %[m]\n"
      "fsw.p %[s], %[out], 4\n"
      "mul.2s %[m], %[w], %[g]\n"
      "addi %[ids], %[ids], 4\n"
      "2:\n"
      "sum.2s %[s], %[m]\n"
      "fsw.p %[s], %[out], 4\n"
      : [w] "=&f"(w), [m] "=&f"(m), [s] "=&f"(s), [ids] "+r"(ids), [out] "+r"(out)
      : [plane] "r"(plane), [n] "r"(n), [g] "f"(change)
      : "memory");
}

/// Like gather_dot(), but adds to `out`: 4 slots per id.
SNN_INLINE void gather_add_dot(const double* plane, const unsigned* ids, unsigned n, double change,
                               float* out) {
  for (; n != 0; --n) {
    const double product = xtile::mul_2s(xtile::lgn_d(plane, ids), change);
    ++ids;
    const float sum = *out + xtile::sum_2s(product);
    xtile::fsw_p<4>(sum, out);
  }
}

/// Writes `value` to `n` words, n > 0: one slot per word.
SNN_INLINE void fill(double* word, unsigned n, double value) {
  asm volatile(
      "rpt %[n], 2f\n"
      "fsd.p %[value], %[word], 8\n"
      "2:\n"
      : [word] "+r"(word)
      : [n] "r"(n), [value] "f"(value)
      : "memory");
}

/// Returns `call`; the compiler forgets what it has read through it. Workers have no stack, so
/// rarely used fields are read again instead of held in registers.
template <class T>
T* again(T* call) {
  asm volatile("" : "+r"(call) : : "memory");
  return call;
}

/// Returns `n`, hidden from the compiler, which would otherwise hold constants to compare it with
/// in registers.
SNN_INLINE unsigned opaque(unsigned n) {
  asm volatile("" : "+r"(n));
  return n;
}

constexpr unsigned kHeader = 2;  // words before ids: number of spikes, number of ids
/// Marks of neurons: their sum counts both, as ids are below 65,536.
constexpr unsigned kSpike = 1;
constexpr unsigned kCarrier = 1U << 16;  // carries gradient only
/// No gradient: a neuron that is not listed. No arithmetic makes this number.
constexpr unsigned kUnlisted = ~0U;

/// Spikes that a tile receives from one source, a list per sample.
struct Source {
  const unsigned* lists;
  unsigned stride;  // bytes from list to list
  unsigned rows;    // byte offset of the source's rows of weights in a plane
};

/// Parameters of two neurons; see network.h.
struct Neurons {
  double alpha, gain, bias, threshold, second, beta, rho;
  double keep;     // 1 - rho
  double through;  // (1 - rho) / rho
  double strength;
};

}  // namespace snn
