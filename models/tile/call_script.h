#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/engine/pipeline.h"
#include "sim/isa/activity.h"

namespace tessera {

/// What one call of a worker takes.
struct CallOutcome {
  std::uint64_t slots = 0;
  std::uint64_t pairs = 0;
  std::array<std::uint64_t, engine::kCauses> waits{};
  std::uint64_t instructions = 0;
  std::uint64_t flops = 0;
  isa::ActivityCounts activity{};
  auto operator<=>(const CallOutcome&) const = default;
};

/// What the calls of a tile's workers take, in the order in which its supervisor makes them: the
/// same on all tiles of a kind (models/timing). Where contexts share a pipeline there are none.
struct CallScript {
  std::vector<CallOutcome> outcomes;
  std::vector<std::uint32_t> calls;  ///< by call: which of these
};

}  // namespace tessera
