#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "sim/base/types.h"
#include "sim/engine/issue_trace.h"
#include "sim/engine/pipeline.h"
#include "sim/report/run_result.h"

namespace tessera {

/// One context of a shared pipeline.
struct PipelineLane {
  engine::IssueTrace trace;
  engine::Scoreboard board;
  std::size_t issued = 0;  ///< number of issued demands of the trace's front
  bool running = false;
  bool waits = false;  ///< for the DMA; not running meanwhile
  Cycle last_issue, end;
  std::uint64_t accounted = 0;  ///< cycle up to which `stalls` account for time
  Stalls stalls;
  // The next instructions:
  std::span<const engine::Demand> group;  ///< a pair stays until it issues, together or split
  std::uint32_t step = 0, steps = 1;      ///< the issuing group's slot, and number of slots
  engine::Scoreboard::Ready ready;        ///< of its first instruction, without units

  /// The next step of the group at which more happens than the passing of a slot.
  [[nodiscard]] std::uint32_t eventful_step() const {
    if (step == 0) return 0;
    std::uint32_t first = steps - 1;
    for (const engine::Demand& demand : group)
      if (demand.slots > step) first = std::min(first, demand.slots - 1);
    return first;
  }
};

}  // namespace tessera
