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

/// Optional records of tiles: a trace, each tile's activity in every superstep, and the counts from
/// which energy is computed. Does not affect the simulation.
class Recordings {
 public:
  struct Config {
    std::uint64_t tile_steps = 0;      ///< tiles x rows of RunResult::tile_steps; 0: none
    bool activity = false;             ///< RunResult::activity
    trace::RunTrace* trace = nullptr;  ///< null: none
  };

  Recordings(const Config& config, std::uint32_t tiles);

  /// Makes the tile report to this recorder, which must outlive it.
  void follow(Tile& tile);
  /// Records that a tile has run up to its next interaction; called by the host thread that ran it.
  void arrived(TileId tile, const WaitReason& reason) const {
    if (trace_ != nullptr) log_arrival(tile, reason);
  }
  /// Records that a tile has submitted its side of a transfer.
  void submitted(const fabric::Participant& side, program::Carrier carrier) const {
    if (trace_ != nullptr && carrier != program::Carrier::fabric) trace_->submitted(side.start);
  }
  /// Records a finished transfer.
  void moved(const fabric::Fabric& fabric, const fabric::Moved& moved);
  /// Records the end of a zone's superstep. `tiles`: all of the machine's.
  void close(const std::vector<Tile>& tiles, std::span<const TileId> zone,
             const SuperstepRecord& record, bool measured);
  /// Adds the records of the measured region to `result`.
  void add_to(RunResult& result) const;

 private:
  void log_arrival(TileId tile, const WaitReason& reason) const;

  trace::RunTrace* trace_;
  std::optional<TileStepRecorder> steps_;
  std::vector<ActivityAccount> activity_;  ///< by tile; empty: not counted
};

}  // namespace tessera
