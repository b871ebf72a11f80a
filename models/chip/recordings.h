#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/chip/tile_step_recorder.h"
#include "models/fabric/fabric.h"
#include "models/tile/tile.h"
#include "sim/trace/run_trace.h"

namespace tessera {

/// Optional records of tiles: a trace, the activity of each in every superstep, and the work from
/// which energy is computed. Nothing that tiles do depends on it.
class Recordings {
 public:
  struct Config {
    std::uint64_t tile_steps = 0;      ///< tiles x rows of RunResult::tile_steps; 0: none
    bool activity = false;             ///< RunResult::activity
    trace::RunTrace* trace = nullptr;  ///< null: none
  };

  Recordings(const Config& config, std::uint32_t tiles);

  /// Has the tile, which this outlives, tell what it does.
  void follow(Tile& tile);
  /// A tile has run until it needs others; told by the host thread that ran it.
  void arrived(TileId tile, const Standing& standing) const {
    if (trace_ != nullptr) log_arrival(tile, standing);
  }
  /// A tile has submitted its side of a transfer.
  void submitted(const fabric::Participant& side, program::Carrier carrier) const {
    if (trace_ != nullptr && carrier != program::Carrier::fabric) trace_->submitted(side.start);
  }
  /// Bytes have moved, between tiles or with memory outside.
  void moved(const fabric::Fabric& fabric, const fabric::Moved& moved);
  /// The superstep of a zone has ended. `tiles`: of the machine.
  void close(const std::vector<Tile>& tiles, std::span<const TileId> zone,
             const SuperstepRecord& record, bool measured);
  /// Adds what was kept of the measured region.
  void add_to(RunResult& result) const;

 private:
  void log_arrival(TileId tile, const Standing& standing) const;

  trace::RunTrace* trace_;
  std::optional<TileStepRecorder> steps_;
  std::vector<ActivityAccount> activity_;  ///< by tile; empty: not counted
};

}  // namespace tessera
