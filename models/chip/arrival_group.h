#pragma once

#include <algorithm>
#include <cstdint>

#include "models/sync/barrier.h"
#include "models/tile/arrival.h"

namespace tessera {

/// Tiles that arrived at one barrier, before the same step, or ended: their combined data for the
/// barrier and the time accounting. The order in which tiles are added changes nothing.
struct ArrivalGroup {
  Barrier::Arrivals arrivals;
  std::uint32_t zone = 0;
  std::uint32_t sync_step = program::kNoStep;
  std::uint32_t steps_begun = 0;  ///< 1 + the last step that any tile entered; 0: none did
  Path path;                      ///< the last tile's
  Cycle least_compute{UINT64_MAX};
  Cycle most_compute;
  std::uint64_t sum_compute = 0;
  std::uint64_t instructions = 0;
  std::uint64_t flops = 0;
  Bytes read, written;  ///< external memory, by workers of all tiles
  Cycle overlapped;     ///< sum over all tiles

  /// True if a tile with this arrival belongs to the group.
  [[nodiscard]] bool fits(const WaitReason& reason) const {
    return arrivals.tiles == 0 || (reason.zone == zone && reason.sync_step == sync_step);
  }

  /// Adds a tile that fits and took path `way` in the superstep that began at `start`.
  void add(TileId tile, const Arrival& arrival, const Path& way, Cycle start) {
    const TileSpan& span = arrival.span;
    const Cycle computing = arrival.at - start - span.exchange - span.wait;
    zone = arrival.zone;
    sync_step = arrival.sync_step;
    if (arrivals.add(tile, arrival.at)) path = way;
    steps_begun = std::max(steps_begun, arrival.step + 1);  // kNoStep + 1 is 0
    least_compute = std::min(least_compute, computing);
    most_compute = std::max(most_compute, computing);
    sum_compute += computing.count();
    instructions += span.instructions;
    flops += span.flops;
    read += span.read;
    written += span.written;
    overlapped += span.overlapped;
  }
};

}  // namespace tessera
