#pragma once

#include "sim/report/run_result.h"

namespace tessera {

/// What one tile did, as far as energy and bounds depend on it: since its last barrier, and in all
/// that was measured.
struct ActivityAccount {
  TileActivity open;
  TileActivity measured;

  /// Ends a span; it counts if `keep`.
  void close(bool keep) {
    if (keep) measured.add(open);
    open = {};
  }
};

}  // namespace tessera
