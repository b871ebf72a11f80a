#pragma once

#include <iosfwd>
#include <string_view>

#include "sim/elf/elf.h"

namespace tessera::elf {

/// Writes the disassembly of all code in `file`, or of one symbol: up to its size, or without a
/// size up to the next symbol. UserError for an unknown symbol, with the nearest name.
void list(std::ostream& out, const Program& file, std::string_view symbol = "");

}  // namespace tessera::elf
