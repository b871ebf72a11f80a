#pragma once

#include <cstdint>

#include "sim/isa/mnemonic.h"

namespace tessera::isa {

/// The word of `instruction`: decode's inverse. Fields that the instruction does not have must be 0
/// and numbers must fit; otherwise throws Defect, since only our own code builds instructions.
std::uint32_t encode(const Instruction& instruction);

}  // namespace tessera::isa
