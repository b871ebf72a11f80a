#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "sim/engine/pipeline.h"

/// Profile of worker contexts' slots, by instruction.
namespace tessera::engine {

class Code;

/// Slots of its context that one instruction used.
struct InstructionProfile {
  std::uint64_t times = 0;        ///< number of executions
  std::uint64_t issued = 0;       ///< occupied slots; 0 if it issued as second of a pair
  Waits waits{};                  ///< before issue, by Cause; for a taken branch: after it
  std::uint64_t arbitration = 0;  ///< cycles it was ready and others issued (shared pipelines)

  InstructionProfile& operator+=(const InstructionProfile& other);
  [[nodiscard]] std::uint64_t slots() const;  ///< all of them
};

/// By pc.
using Profile = std::map<std::uint32_t, InstructionProfile>;

/// Profile of all executions of `code`, which must have been decoded for it (CodeCounts::profile).
/// Exact: passes are counted by stretch and pipeline state while code runs; each instruction's
/// share of a pass is computed here.
Profile profile(const Code& code);

}  // namespace tessera::engine
