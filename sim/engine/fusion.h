#pragma once

#include <optional>
#include <span>

#include "sim/engine/op.h"
#include "sim/isa/mnemonic.h"

/// Handlers that do several instructions of fast code in one dispatch.
namespace tessera::engine {

/// The handler of the longest sequence that `next` begins with; null where there is none.
/// `next[i]` is empty where an instruction may not be fused.
Handler fused(std::span<const std::optional<isa::Mnemonic>> next);

/// A sequence that is known to be fused; every one of them, for tests.
struct Fusion {
  static constexpr std::size_t kLongest = 8;

  isa::Mnemonic shape[kLongest] = {};
  std::size_t length = 0;
  Handler handler = nullptr;
};
std::span<const Fusion> long_fusions();

}  // namespace tessera::engine
