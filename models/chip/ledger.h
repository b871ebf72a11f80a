#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/chip/arrival_group.h"
#include "sim/program/image.h"
#include "sim/report/run_result.h"

namespace tessera {

/// Accounts for supersteps: gathers what the tiles did between two barriers and says where the time
/// went along the last-arriving one. Only supersteps whose last step is measured are kept.
/// Timing: the parts of a superstep sum to release - start, so those of a run sum to its cycles.
class Ledger {
 public:
  explicit Ledger(std::span<const program::StepInfo> steps) : steps_(steps) {}

  /// Tiles have arrived at the barrier, or have ended.
  void arrive(const ArrivalGroup& group);

  /// Bytes that reached tiles; `multicast`: beyond the first receiver of each.
  void deliver(Bytes delivered, Bytes multicast);

  /// The host's work while the tiles waited at the barrier.
  struct HostShare {
    Cycle cycles;
    Bytes bytes;
  };
  /// Ends the superstep at `release` (the last arrival if no barrier follows); true if it counts.
  bool close(Cycle release, HostShare host = {});
  /// The step of the program that the open superstep has come to, or program::kNoStep.
  [[nodiscard]] std::uint32_t step() const { return open_.program_step; }

  /// The superstep that was closed last, measured or not.
  [[nodiscard]] const SuperstepRecord& closed() const { return closed_; }
  /// When the superstep that is open began.
  [[nodiscard]] Cycle start() const { return open_.start; }
  [[nodiscard]] std::uint64_t supersteps() const { return superstep_; }
  [[nodiscard]] const std::vector<SuperstepRecord>& records() const { return records_; }
  /// The totals of what was measured; the tiles' own records are the caller's to add.
  [[nodiscard]] RunResult totals() const;

 private:
  std::span<const program::StepInfo> steps_;
  std::vector<SuperstepRecord> records_;
  SuperstepRecord closed_{};
  std::uint64_t superstep_ = 0;
  Bytes multicast_, hosted_;  ///< of what was measured

  // The superstep that is open.
  SuperstepRecord open_{};
  Barrier::Arrivals arrived_;
  Bytes open_multicast_;
};

}  // namespace tessera
