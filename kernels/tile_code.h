#pragma once

#include "xtile.h"

/// Definitions that the tile code of several kernels shares. There is no pool of constants.
namespace kernels {

using Half = _Float16;
using xtile::constant;

/// A worker's stretch of 64-bit words, from a byte offset on; maybe none.
struct Part {
  unsigned offset, words;
};

/// The last arguments of a call: one of `Each` for every worker.
template <class Each>
struct Parts {
  Each of[1];

  Each mine() const { return (&of[0])[xtile::worker()]; }
};

template <class T>
T* shifted(T* base, unsigned bytes) {
  return reinterpret_cast<T*>(reinterpret_cast<unsigned>(base) + bytes);
}

}  // namespace kernels
