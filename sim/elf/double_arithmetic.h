#pragma once

#include <string_view>

#include "sim/elf/elf.h"

namespace tessera::elf {

constexpr std::string_view kDoubleArithmetic =
    "double-precision arithmetic; a tile has 64-bit containers only";

/// True if `word` computes on doubles or converts from or to them: a tile's f registers hold 64
/// bits, but as containers only.
bool is_double_arithmetic(std::uint32_t word);

/// Throws UserError with address and instruction if a function of `file` holds such a word, or its
/// code where it names no functions.
void refuse_double_arithmetic(const Program& file);

}  // namespace tessera::elf
