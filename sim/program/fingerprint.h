#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string_view>

#include "sim/program/exchange_compiler.h"
#include "sim/program/program.h"

namespace tessera::program {

/// 128 bits that differ where two programs do, for stores of what was found out about programs.
/// Leaves out what no planner can tell apart: the contents of buffers and transfers (but not that
/// there are some) and tensors. Not for data that somebody may have chosen to collide.
struct Fingerprint {
  std::uint64_t low = 0, high = 0;
  auto operator<=>(const Fingerprint&) const = default;
};

Fingerprint fingerprint(const Program& program);

/// Fingerprint of an exchange as fabrics tell them apart: the same if all addresses of a tile move
/// by the same distance.
Fingerprint fingerprint(std::span<const PlacedCopy> copies);

/// Fingerprint of contents.
Fingerprint fingerprint(std::span<const std::byte> bytes);

}  // namespace tessera::program
