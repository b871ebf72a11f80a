#pragma once

#include <cstdint>
#include <optional>

#include "sim/isa/mnemonic.h"

namespace tessera::isa {

/// The instruction that `word` encodes; nothing for words outside the table, including reserved
/// rounding modes 5 and 6.
std::optional<Instruction> decode(std::uint32_t word);

}  // namespace tessera::isa
