#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/engine/pipeline.h"
#include "sim/isa/activity.h"

namespace tessera {

/// Time and activity of one call of a worker.
struct CallOutcome {
  std::uint64_t slots = 0;
  std::uint64_t pairs = 0;
  std::array<std::uint64_t, engine::kCauses> waits{};
  std::uint64_t instructions = 0;
  std::uint64_t flops = 0;
  isa::ActivityCounts activity{};
  auto operator<=>(const CallOutcome&) const = default;
  CallOutcome& operator+=(const CallOutcome& other) {
    slots += other.slots;
    pairs += other.pairs;
    for (std::size_t i = 0; i < waits.size(); ++i) waits[i] += other.waits[i];
    instructions += other.instructions;
    flops += other.flops;
    for (std::size_t i = 0; i < activity.size(); ++i) activity[i] += other.activity[i];
    return *this;
  }
};

/// Time and activity of one `run` of all workers.
struct LaunchOutcome {
  CallOutcome all;                   ///< sum over all workers
  std::vector<std::uint64_t> slots;  ///< by worker
  std::uint64_t most = 0;            ///< slots of the slowest worker
};

/// Time and activity of a tile's worker calls, in the supervisor's order: the same on all tiles of
/// a kind (models/timing). Empty where contexts share a pipeline.
struct CallScript {
  std::vector<CallOutcome> outcomes;
  std::vector<std::uint32_t> calls;  ///< by call: index in outcomes
  std::vector<LaunchOutcome> launches;
  std::vector<std::uint32_t> launched;  ///< by `run` of all workers: index in launches
};

}  // namespace tessera
