#pragma once

#include <atomic>
#include <cstdint>

namespace tessera {

/// Progress of a run, for display: written by the threads that simulate and check.
struct RunProgress {
  enum class Phase : std::uint8_t { building, loading, running, checking };

  std::atomic<Phase> phase{Phase::building};
  /// Sum over tiles of the cycle each has been simulated to; all runs together.
  std::atomic<std::uint64_t> tile_cycles{0};
};

}  // namespace tessera
