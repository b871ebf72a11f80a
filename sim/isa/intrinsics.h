#pragma once

#include <string>

namespace tessera::isa {

/// The text of xtile.h, the header for tile code: for assembly and asm statements a macro for every
/// Xtile mnemonic, in the disassembler's syntax; for C++ `xtile::` functions that use these macros
/// (packed values are doubles).
std::string intrinsics_header();

}  // namespace tessera::isa
