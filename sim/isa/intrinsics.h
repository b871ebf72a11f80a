#pragma once

#include <string>

namespace tessera::isa {

/// The text of xtile.h, what tile code includes: for assembly and for asm statements of C++ a macro
/// for every Xtile mnemonic in the disassembler's own syntax, and for C++ `xtile::` functions made
/// of them (packed values are doubles).
std::string intrinsics_header();

}  // namespace tessera::isa
