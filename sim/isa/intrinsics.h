#pragma once

#include <string>

namespace tessera::isa {

/// The text of xtile.h, what tile code includes: `xtile::` functions for C++ codelets (packed
/// values are doubles), and for assembly a macro for every Xtile mnemonic in the disassembler's own
/// syntax.
std::string intrinsics_header();

}  // namespace tessera::isa
