#pragma once

#include "kernels/snn/tile_code.h"

/// Shared by tile code that looks for spikes: what was found, and how it is joined.
namespace snn {

/// Findings of a worker or a tile: spikes from the front, carriers of gradient from the back.
struct Found {
  unsigned spikes, carriers;
  unsigned left_out;  // what there was no room for: spikes, and carriers times kCarrier
  unsigned padding;
  unsigned ids[1];
};

/// A well mixed word (lowbias32, Wellons); the same in reference.cpp.
SNN_INLINE unsigned mixed(unsigned x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  return x ^ (x >> 16);
}

SNN_INLINE unsigned high_product(unsigned a, unsigned b) {
  unsigned high;
  asm("mulhu %0, %1, %2" : "=r"(high) : "r"(a), "r"(b));
  return high;
}

/// Lists that workers or tiles have found, and what they become.
struct Combine {
  const Found* found;
  unsigned lists, stride, from;  // how many, bytes, ids of each at most
  unsigned capacity;
  Found* part;          // the result is one of several: carriers from the back
  unsigned* list;       // or a whole list, carriers behind the spikes
  unsigned* stored;     // lists of all steps; null: none
  unsigned slot, mask;  // bytes from step to step, and the steps that have a slot
  const unsigned* clock;
  unsigned* totals;  // spikes, listed, lists that overflowed, spikes and carriers left out
};

SNN_INLINE unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

SNN_INLINE unsigned wrapped(const Combine* call, unsigned i) {
  return i < call->lists ? i : i - call->lists;
}

/// Which list comes first changes with the clock, so that none is cut more often than others.
SNN_INLINE unsigned first_of(const Combine* call) {
  return high_product(mixed(*call->clock), call->lists);
}

/// Where ids are stored, from where they are sent.
SNN_INLINE unsigned stored_behind(const Combine* call) {
  if (call->stored == nullptr) return 0;
  return reinterpret_cast<unsigned>(
             shifted(call->stored, ((*call->clock + 1) & call->mask) * call->slot)) -
         reinterpret_cast<unsigned>(call->list);
}

SNN_INLINE unsigned* ids_of(const Combine* call) {
  return call->part != nullptr ? call->part->ids : call->list + kHeader;
}

/// Counts of the joined list: one worker writes them.
struct Kept {
  unsigned spikes, carriers, left_out;
};
SNN_INLINE void conclude(const Combine* call, const Kept& kept) {
  if (call->part != nullptr) {
    call->part->spikes = kept.spikes;
    call->part->carriers = kept.carriers;
    call->part->left_out = kept.left_out;
  } else {
    const unsigned behind = stored_behind(call);
    unsigned* const list = call->list;
    list[0] = kept.spikes;
    list[1] = kept.spikes + kept.carriers;
    shifted(list, behind)[0] = kept.spikes;
    shifted(list, behind)[1] = kept.spikes + kept.carriers;
    call->totals[0] += kept.spikes;
    call->totals[1] += kept.spikes + kept.carriers;
    if (kept.left_out != 0) {
      call->totals[2] += 1;
      call->totals[3] += kept.left_out % kCarrier;
      call->totals[4] += kept.left_out / kCarrier;
    }
  }
}

}  // namespace snn
