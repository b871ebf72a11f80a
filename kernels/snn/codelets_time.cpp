// Tile code for time: advances clocks, fetches stored lists, saves and restores states.
#include "kernels/snn/tile_code.h"

using namespace snn;

namespace {

struct Fetch {
  const unsigned* stored;
  unsigned slot;   // bytes
  unsigned ahead;  // slots beyond the clock
  const unsigned* clock;
  unsigned* list;
};

struct TickCall {
  unsigned* clock;
  unsigned keep, change;
};

struct ClearCall {
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

/// Copies 64-bit words, interleaved over the workers.
SNN_INLINE void copy_words(const double* from, double* to, unsigned words) {
  const double* word = from + xtile::worker();
  double* out = to + xtile::worker();
  for (unsigned i = xtile::worker(); i < words; i += xtile::workers()) {
    *out = *word;
    word += xtile::workers();
    out += xtile::workers();
  }
}

}  // namespace

/// Copies a stored list to the place from which it is sent.
extern "C" void snn_fetch(const Fetch* call) {
  const unsigned which = *call->clock + call->ahead;
  if (static_cast<int>(which) < 0) {  // backward pass, before the first step
    xtile::xctl<0>();
    return;
  }
  const unsigned* from = shifted(call->stored, which * call->slot);
  const unsigned words = (from[1] + kHeader + 1) / 2;  // of 64 bits; lists have room for one more
  copy_words(reinterpret_cast<const double*>(from), reinterpret_cast<double*>(call->list), words);
  xtile::xctl<0>();
}

/// clock = (clock & keep) + change; one worker.
extern "C" void snn_tick(const TickCall* call) {
  *call->clock = (*call->clock & call->keep) + call->change;
  xtile::xctl<0>();
}

/// Writes zeros; each worker takes a contiguous chunk.
extern "C" void snn_clear(const ClearCall* call) {
  const unsigned first = xtile::worker() * call->chunk;
  if (first < call->count) {
    double* word = call->words + first;
    const unsigned left = call->count - first;
    unsigned n = left < call->chunk ? left : call->chunk;
    fill(word, n, xtile::splat_s(0.0F));
  }
  xtile::xctl<0>();
}

/// Saves the states before the clock's step if the step is a multiple of `every`.
extern "C" void snn_save(const Checkpoint* call) {
  const unsigned step = *call->clock;
  if (step % call->every == 0)
    copy_words(shifted(call->states, (step & 1) * call->slot),
               shifted(call->checkpoints, step / call->every * call->slot), call->slot / 8);
  xtile::xctl<0>();
}

/// Restores the checkpoint of the clock's step to slot 0.
extern "C" void snn_restore(const Checkpoint* call) {
  copy_words(shifted(call->checkpoints, *call->clock / call->every * call->slot), call->states,
             call->slot / 8);
  xtile::xctl<0>();
}
