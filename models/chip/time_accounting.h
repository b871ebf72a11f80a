#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/chip/arrival_group.h"
#include "sim/program/image.h"
#include "sim/report/run_result.h"

namespace tessera {

/// Time accounting for the supersteps of one zone: sums what its tiles did between two barriers and
/// splits the time along the path of the last-arriving tile. Only supersteps whose last step is
/// measured count. Timing: the parts of a superstep sum to release - start, so those of a run sum
/// to its cycles.
class TimeAccounting {
 public:
  TimeAccounting(std::span<const program::StepInfo> steps, std::uint32_t zone) : steps_(steps) {
    open_.zone = zone;
  }

  /// Records that tiles have arrived at the barrier or have ended.
  void arrive(const ArrivalGroup& group);

  /// Records a delivered exchange; `multicast`: bytes delivered beyond the first receiver of each
  /// send.
  void deliver(std::uint32_t exchange, Bytes delivered, Bytes multicast);

  /// Records a finished transfer with external memory.
  void deliver_outside(std::uint32_t exchange, Bytes read, Bytes written);
  /// Records a finished host transfer; `bytes` of it count as measured.
  void deliver_host(std::uint32_t exchange, Bytes bytes);

  /// Ends the superstep at `release` (the last arrival if no barrier follows); true if it is
  /// measured.
  bool close(Cycle release);
  /// The program step that the open superstep has reached, or program::kNoStep.
  [[nodiscard]] std::uint32_t step() const { return open_.program_step; }

  /// The last closed superstep, measured or not.
  [[nodiscard]] const SuperstepRecord& closed() const { return closed_; }
  /// Start of the open superstep.
  [[nodiscard]] Cycle start() const { return open_.start; }
  [[nodiscard]] std::uint64_t supersteps() const { return superstep_; }
  /// Where the measured time went.
  [[nodiscard]] const TimeParts& time() const { return time_; }
  /// Measured bytes: multicast (beyond each send's first receiver), and host transfers.
  [[nodiscard]] Bytes multicast() const { return multicast_; }
  [[nodiscard]] Bytes hosted() const { return hosted_; }

  /// Starts the next superstep at `start`; the gap since the last one is not accounted.
  void begin_at(Cycle start) { open_.start = start; }

 private:
  std::span<const program::StepInfo> steps_;
  TimeParts time_;
  SuperstepRecord closed_{};
  std::uint64_t superstep_ = 0;
  Bytes multicast_, hosted_;

  // The open superstep.
  SuperstepRecord open_{};
  Barrier::Arrivals arrived_;
  Bytes open_multicast_, open_hosted_;
};

}  // namespace tessera
