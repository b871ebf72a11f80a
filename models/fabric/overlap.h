#pragma once

#include <cstdint>
#include <span>

#include "sim/program/exchange_compiler.h"

namespace tessera::fabric {

/// Throws UserError naming the tile and both copies if two destinations of one exchange overlap.
void check_overlap(std::uint32_t exchange, std::span<const program::PlacedCopy> copies);

}  // namespace tessera::fabric
