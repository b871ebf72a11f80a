#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string_view>

#include "sim/program/exchange_compiler.h"
#include "sim/program/program.h"

namespace tessera::program {

/// 128-bit hash of a program, for caches of results about programs. Leaves out what planners cannot
/// distinguish: the contents of buffers and transfers (but not their presence) and tensors. Not
/// collision-resistant against chosen data.
struct Fingerprint {
  std::uint64_t low = 0, high = 0;
  auto operator<=>(const Fingerprint&) const = default;
};

Fingerprint fingerprint(const Program& program);

/// Fingerprint of an exchange as fabrics distinguish them: unchanged if all addresses of a tile
/// shift by the same distance.
Fingerprint fingerprint(std::span<const PlacedCopy> copies);

/// Fingerprint of contents.
Fingerprint fingerprint(std::span<const std::byte> bytes);

}  // namespace tessera::program
