#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/isa/mnemonic.h"

namespace tessera::isa {

/// The ABI name of an integer register, 0 to 31.
std::string_view integer_register_name(std::uint32_t number);

/// Assembly text: ABI register names, no aliases, targets as absolute addresses. xtile.h's macros
/// assemble Xtile lines again. `address`: of the instruction.
std::string disassemble(const Instruction& instruction, std::uint32_t address);

/// Disassembles a word; `.word 0x...` if it is not an instruction.
std::string disassemble(std::uint32_t word, std::uint32_t address);

}  // namespace tessera::isa
