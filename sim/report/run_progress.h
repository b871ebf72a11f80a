#pragma once

#include <atomic>
#include <cstdint>

namespace tessera {

/// How far a run is, for who shows it: written by the threads that simulate and check.
struct RunProgress {
  enum class Phase : std::uint8_t { building, loading, running, checking };

  std::atomic<Phase> phase{Phase::building};
  /// Sum of all tiles' cycles, up to where each has been run ahead; all runs together.
  std::atomic<std::uint64_t> tile_cycles{0};
};

}  // namespace tessera
