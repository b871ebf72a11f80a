#pragma once

#include "kernels/snn/rows.h"

/// What a time step of a tile's neurons takes where marks are bits, and the sums of weights that
/// drive them.
namespace snn {

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
  return shifted(lists.first, xtile::worker() * lists.stride);
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
      const unsigned* second = shifted(own.first, b * own.stride);
      // The blocks of two pairs are two of one, planes.
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

/// Where this worker's states begin, before (0) or after (1) the step.
SNN_INLINE double* states(const Step* call, unsigned after, unsigned values) {
  return shifted(call->states, ((*call->clock + after) & call->mask) * call->slot) +
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

}  // namespace snn
