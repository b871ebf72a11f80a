#pragma once

#include <iosfwd>
#include <string_view>

#include "sim/elf/elf.h"

namespace tessera::elf {

/// Writes the disassembly of all code in `file`, or of one symbol: to its size, or without one to
/// the next symbol. UserError for a symbol that is not there, with the nearest name.
void list(std::ostream& out, const Program& file, std::string_view symbol = "");

}  // namespace tessera::elf
