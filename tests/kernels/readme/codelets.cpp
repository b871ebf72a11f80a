// y = a x + y in f32, two values a word, the words dealt out to the workers of a tile.
#include "xtile.h"

struct Axpy {       // the vertex's argument block: words that the program lays out
  const double* x;  // 64-bit words of two f32
  double* y;
  float a;
  unsigned words;  // of all workers
};

extern "C" void axpy(const Axpy* call) {
  const double a = xtile::splat_s(call->a);
  const unsigned workers = xtile::workers();
  const double* x = call->x + xtile::worker();
  double* y = call->y + xtile::worker();
  for (unsigned i = xtile::worker(); i < call->words; i += workers) {
    *y = xtile::fma_2s(a, *x, *y);
    x += workers;
    y += workers;
  }
}  // to return ends the worker
