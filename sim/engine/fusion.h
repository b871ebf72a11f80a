#pragma once

#include "sim/engine/op.h"
#include "sim/isa/mnemonic.h"

/// Handlers that do several instructions of fast code in one dispatch; null where there is none.
namespace tessera::engine {

Handler fused_pair(isa::Mnemonic first, isa::Mnemonic second);
Handler fused_triple(isa::Mnemonic first, isa::Mnemonic second, isa::Mnemonic third);

}  // namespace tessera::engine
