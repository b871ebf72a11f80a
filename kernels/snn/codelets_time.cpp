// Tile code that keeps time: clocks, lists and states of other steps brought or put aside.
#include "kernels/snn/tile_code.h"

using namespace snn;

namespace {

struct Fetch {
  const unsigned* stored;
  unsigned slot;   // bytes
  unsigned ahead;  // slots, of the clock
  const unsigned* clock;
  unsigned* list;
};

struct Tick {
  unsigned* clock;
  unsigned keep, change;
};

struct Clear {
  double* words;
  unsigned count, chunk;
};

struct Checkpoint {
  double* states;  // [slot]
  double* checkpoints;
  unsigned slot;  // bytes
  const unsigned* clock;
  unsigned every;  // steps
};

/// Words of 64 bits, dealt out to the workers.
SNN_INLINE void copy_slot(const double* from, double* to, unsigned bytes) {
  const double* word = from + xtile::worker();
  double* out = to + xtile::worker();
  for (unsigned i = xtile::worker(); i < bytes / 8; i += xtile::workers()) {
    *out = *word;
    word += xtile::workers();
    out += xtile::workers();
  }
}

}  // namespace

/// Brings a list of those that are stored to where it is sent from.
extern "C" void snn_fetch(const Fetch* call) {
  const unsigned which = *call->clock + call->ahead;
  if (static_cast<int>(which) < 0) {  // backwards, beyond the first step
    xtile::xctl<0>();
    return;
  }
  const unsigned* from = shifted(call->stored, which * call->slot);
  const unsigned words = (from[1] + kHeader + 1) / 2;  // of 64 bits; lists have room for one more
  const double* word = reinterpret_cast<const double*>(from) + xtile::worker();
  double* to = reinterpret_cast<double*>(call->list) + xtile::worker();
  for (unsigned i = xtile::worker(); i < words; i += xtile::workers()) {
    *to = *word;
    word += xtile::workers();
    to += xtile::workers();
  }
  xtile::xctl<0>();
}

/// clock = (clock & keep) + change; one worker.
extern "C" void snn_tick(const Tick* call) {
  *call->clock = (*call->clock & call->keep) + call->change;
  xtile::xctl<0>();
}

/// Zeros; each worker takes a stretch.
extern "C" void snn_clear(const Clear* call) {
  const unsigned first = xtile::worker() * call->chunk;
  if (first < call->count) {
    double* word = call->words + first;
    const unsigned left = call->count - first;
    unsigned n = left < call->chunk ? left : call->chunk;
    fill(word, n, xtile::splat_s(0.0F));
  }
  xtile::xctl<0>();
}

/// Puts the states before the clock's step aside, if it is one of every so many.
extern "C" void snn_save(const Checkpoint* call) {
  const unsigned step = *call->clock;
  if (step % call->every == 0)
    copy_slot(shifted(call->states, (step & 1) * call->slot),
              shifted(call->checkpoints, step / call->every * call->slot), call->slot);
  xtile::xctl<0>();
}

/// Brings those of the clock's step back.
extern "C" void snn_restore(const Checkpoint* call) {
  copy_slot(shifted(call->checkpoints, *call->clock / call->every * call->slot), call->states,
            call->slot);
  xtile::xctl<0>();
}
