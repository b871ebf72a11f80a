#pragma once

#include <optional>
#include <span>

#include "sim/engine/op.h"
#include "sim/engine/part.h"
#include "sim/isa/mnemonic.h"

/// Handlers that do several instructions of fast code in one dispatch.
namespace tessera::engine {

/// The handler of the longest sequence that `next` begins with; null where there is none.
/// `next[i]` is empty where an instruction may not be fused. For Fast and for Counting.
template <class Mode>
Handler fused(std::span<const std::optional<isa::Instruction>> next);

/// Returns the handler for a sequence without a branch, which leaves no block: it serves every mode
/// that rounds as the host does.
Handler fused_straight(std::span<const std::optional<isa::Instruction>> next);

/// A sequence that is known to be fused; every one of Fast, for tests.
struct Fusion {
  std::span<const Part> parts;
  Handler handler = nullptr;  ///< where registers are as the parts say
  Handler plain = nullptr;    ///< for any registers
};
std::span<const Fusion> long_fusions();

}  // namespace tessera::engine
