#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "sim/engine/pipeline.h"

/// Where the slots of worker contexts went, instruction by instruction.
namespace tessera::engine {

class Code;

/// Slots of its context that one instruction took.
struct InstructionProfile {
  std::uint64_t times = 0;   ///< that it was executed
  std::uint64_t issued = 0;  ///< slots that it occupied; none where it issued in a pair as second
  Waits waits{};             ///< before it issued, by Cause; of a taken branch: behind it
  std::uint64_t arbitration = 0;  ///< cycles it was ready and others issued (shared pipelines)

  InstructionProfile& operator+=(const InstructionProfile& other);
  [[nodiscard]] std::uint64_t slots() const;  ///< all of them
};

/// By pc.
using Profile = std::map<std::uint32_t, InstructionProfile>;

/// Profile of all executions of `code`, which must have been decoded for it (CodeCounts::profile).
/// Exact: passes are counted by stretch and signature while code runs, and each instruction's share
/// of a pass is found here.
Profile profile(const Code& code);

}  // namespace tessera::engine
