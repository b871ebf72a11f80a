#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/program/image.h"
#include "sim/program/liveness.h"

/// Allocates buffers on one tile. Buffers with disjoint lifetimes may share bytes: greedy, largest
/// first, each at the lowest free address. Leaves out: an optimal packing (NP-hard).
namespace tessera::program {

/// A buffer as the allocator sees it.
struct Block {
  std::uint64_t bytes;
  std::uint32_t align;
  Lifetime life;
  Category category;
  auto operator<=>(const Block&) const = default;  // NOLINT(modernize-use-nullptr)
};

struct Layout {
  std::vector<std::uint64_t> address;  ///< by block; `base` for blocks never used
  std::uint64_t end = 0;               ///< one past the last byte
  CategoryBytes peak{};                ///< end - base, split by the live blocks at the peak
  std::vector<std::uint64_t> live;     ///< bytes live during each step
};

/// Places `blocks` at `base` and above, for a program of `steps` steps. Deterministic. Addresses
/// are 64-bit: the caller must check that they fit in the tile.
Layout place(std::span<const Block> blocks, std::uint64_t base, std::uint32_t steps);

}  // namespace tessera::program
