#pragma once

#include <string_view>

#include "sim/elf/elf.h"

namespace tessera::elf {

constexpr std::string_view kDoubleArithmetic =
    "double-precision arithmetic; a tile has 64-bit containers only";

/// True if `word` computes on doubles or converts from or to them. A tile's f registers hold 64
/// bits, but only as containers.
bool is_double_arithmetic(std::uint32_t word);

/// Throws UserError with address and instruction if a function of `file` holds such a word; checks
/// all code if the file names no functions.
void refuse_double_arithmetic(const Program& file);

}  // namespace tessera::elf
