#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/chip/arrival_group.h"
#include "sim/program/image.h"
#include "sim/report/run_result.h"

namespace tessera {

/// Accounts for the supersteps of one zone: gathers what its tiles did between two barriers and
/// says where the time went along the last-arriving one. Only supersteps whose last step is
/// measured count. Timing: the parts of a superstep sum to release - start, so those of a run sum
/// to its cycles.
class Ledger {
 public:
  Ledger(std::span<const program::StepInfo> steps, std::uint32_t zone) : steps_(steps) {
    open_.zone = zone;
  }

  /// Tiles have arrived at the barrier, or have ended.
  void arrive(const ArrivalGroup& group);

  /// Bytes of the exchange of that number have reached tiles; `multicast`: beyond the first
  /// receiver of each.
  void deliver(std::uint32_t exchange, Bytes delivered, Bytes multicast);

  /// A transfer with memory outside has ended.
  void deliver_outside(std::uint32_t exchange, Bytes read, Bytes written);
  /// One with the host has ended; `bytes` of it count.
  void deliver_host(std::uint32_t exchange, Bytes bytes);

  /// Ends the superstep at `release` (the last arrival if no barrier follows); true if it counts.
  bool close(Cycle release);
  /// The step of the program that the open superstep has come to, or program::kNoStep.
  [[nodiscard]] std::uint32_t step() const { return open_.program_step; }

  /// The superstep that was closed last, measured or not.
  [[nodiscard]] const SuperstepRecord& closed() const { return closed_; }
  /// When the superstep that is open began.
  [[nodiscard]] Cycle start() const { return open_.start; }
  [[nodiscard]] std::uint64_t supersteps() const { return superstep_; }
  /// Where the measured time went.
  [[nodiscard]] const TimeParts& time() const { return time_; }
  /// Measured bytes beyond the first receiver of each, and of transfers with the host.
  [[nodiscard]] Bytes multicast() const { return multicast_; }
  [[nodiscard]] Bytes hosted() const { return hosted_; }

  /// The next superstep begins at `start`: what lies between was nobody's.
  void begin_at(Cycle start) { open_.start = start; }

 private:
  std::span<const program::StepInfo> steps_;
  TimeParts time_;
  SuperstepRecord closed_{};
  std::uint64_t superstep_ = 0;
  Bytes multicast_, hosted_;

  // The superstep that is open.
  SuperstepRecord open_{};
  Barrier::Arrivals arrived_;
  Bytes open_multicast_, open_hosted_;
};

}  // namespace tessera
