#pragma once

#include "kernels/snn/tile_code.h"

/// Shared by tile code that finds spikes: the found lists, and how they are joined.
namespace snn {

/// Ids found by a worker or a tile: spikes from the front, gradient carriers from the back.
struct Found {
  unsigned spikes, carriers;
  unsigned left_out;  // without room: spikes, plus kCarrier times carriers
  unsigned padding;
  unsigned ids[1];
};

/// A hash of a word (lowbias32, Wellons), as in reference.cpp.
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

/// Lists found by workers or tiles, and the list that joins them.
struct Combine {
  const Found* found;
  unsigned lists, stride, from;  // number, bytes apart, most ids of each
  unsigned capacity;
  Found* part;          // partial list, one of several; else null
  unsigned* list;       // whole list: spikes, then carriers
  unsigned* stored;     // lists of all steps; null: none
  unsigned slot, mask;  // bytes of a step's slot, number of slots - 1
  const unsigned* clock;
  unsigned* totals;  // spikes, ids listed, overflowed lists, spikes and carriers left out
};

SNN_INLINE unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

SNN_INLINE unsigned wrapped(const Combine* call, unsigned i) {
  return i < call->lists ? i : i - call->lists;
}

/// The first list to join. It changes with the clock, so that overflow cuts all lists alike.
SNN_INLINE unsigned first_of(const Combine* call) {
  return high_product(mixed(*call->clock), call->lists);
}

/// Bytes from the sent list to the stored one.
SNN_INLINE unsigned stored_behind(const Combine* call) {
  if (call->stored == nullptr) return 0;
  return reinterpret_cast<unsigned>(
             shifted(call->stored, ((*call->clock + 1) & call->mask) * call->slot)) -
         reinterpret_cast<unsigned>(call->list);
}

SNN_INLINE unsigned* ids_of(const Combine* call) {
  return call->part != nullptr ? call->part->ids : call->list + kHeader;
}

/// Counts of the joined list.
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
