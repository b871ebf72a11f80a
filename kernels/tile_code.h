#pragma once

#include "xtile.h"

/// Definitions shared by the tile code of several kernels. Blobs have no constant pool.
namespace kernels {

using Half = _Float16;
using xtile::constant;

/// A worker's range of 64-bit words from a byte offset on; may be empty.
struct Part {
  unsigned offset, words;
};

/// The last arguments of a call: one `Each` per worker.
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
