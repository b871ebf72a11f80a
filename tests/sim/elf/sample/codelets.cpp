#include "xtile.h"

// Tile code for the loader's tests: a C++ codelet that uses intrinsics, constants and a loop.
extern "C" void sample_axpy(const float* argument) {
  const float* x = argument;
  float* y = const_cast<float*>(argument) + 8;
  const float a = xtile::constant(1.5F);
  for (unsigned i = xtile::worker(); i < 8; i += xtile::workers()) y[i] = a * x[i] + y[i];
  double packed = xtile::fld_p<8>(x);
  packed = xtile::fma_2s(packed, packed, xtile::splat_s(0.0F));
  xtile::fsd_p<8>(packed, y);
}
