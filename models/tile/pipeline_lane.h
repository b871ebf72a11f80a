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
  std::size_t issued = 0;  ///< demands of the trace's front
  bool running = false;
  bool waits = false;  ///< for the DMA, and does not run meanwhile
  Cycle last_issue, end;
  std::uint64_t accounted = 0;  ///< until when `stalls` say where cycles went
  Stalls stalls;
  // The instructions that come next:
  std::span<const engine::Demand> group;  ///< a pair until it issues, together or apart
  std::uint32_t step = 0, steps = 1;      ///< the issuing group's slot, and number of slots
  engine::Scoreboard::Ready ready;        ///< its first instruction's, but for units

  /// The step of the group at which something next happens but that a slot passes.
  [[nodiscard]] std::uint32_t eventful_step() const {
    if (step == 0) return 0;
    std::uint32_t first = steps - 1;
    for (const engine::Demand& demand : group)
      if (demand.slots > step) first = std::min(first, demand.slots - 1);
    return first;
  }
};

}  // namespace tessera
