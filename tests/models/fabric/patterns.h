#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "sim/program/exchange_compiler.h"

/// Exchange patterns for tests. Their ranges never overlap; each tile's begin at address 0.
namespace tessera::fabric::patterns {

using Copies = std::vector<program::PlacedCopy>;

inline program::Port at(std::uint32_t tile, std::uint32_t address) {
  return {TileId(tile), Address(address)};
}

class Layout {
 public:
  explicit Layout(std::uint32_t tiles, std::uint32_t base = 0) : next_(tiles, base) {}
  program::Port take(std::uint32_t tile, std::uint32_t bytes) {
    const program::Port port{TileId(tile), Address(next_[tile])};
    next_[tile] += bytes;
    return port;
  }
  [[nodiscard]] std::uint32_t used() const { return *std::max_element(next_.begin(), next_.end()); }

 private:
  std::vector<std::uint32_t> next_;
};

/// One copy of `bytes` from `source` to each tile in `to`.
inline program::PlacedCopy multicast(Layout& layout, std::uint32_t source, std::uint32_t bytes,
                                     const std::vector<std::uint32_t>& to) {
  program::PlacedCopy copy{layout.take(source, bytes), bytes, {}};
  for (const std::uint32_t tile : to) copy.destinations.push_back(layout.take(tile, bytes));
  return copy;
}

struct Range {
  std::uint32_t low, high;
};

/// `each` multicasts from every tile to a random set of distinct tiles; `words` of 4 bytes each.
inline Copies random_multicasts(std::uint32_t tiles, std::uint32_t each, Range fanout, Range words,
                                std::uint64_t seed) {
  Layout layout(tiles);
  std::mt19937_64 random(seed);
  const auto pick = [&](Range range) {
    return range.low + static_cast<std::uint32_t>(random() % (range.high - range.low + 1));
  };
  Copies copies;
  for (std::uint32_t i = 0; i < tiles * each; ++i) {
    std::vector<std::uint32_t> to;
    for (const std::uint32_t wanted = pick(fanout); to.size() < wanted;) {
      const std::uint32_t tile = pick({0, tiles - 1});
      if (std::find(to.begin(), to.end(), tile) == to.end()) to.push_back(tile);
    }
    copies.push_back(multicast(layout, i / each, 4 * pick(words), to));
  }
  return copies;
}

/// The operands of a gm x gn x gk grid of tiles: all gn tiles of a row receive `a_bytes`, all gm of
/// a column `b_bytes`. The pieces are stored on the tiles one after the other.
inline Copies gemm_grid(std::uint32_t gm, std::uint32_t gn, std::uint32_t gk, std::uint32_t a_bytes,
                        std::uint32_t b_bytes) {
  Layout layout(gm * gn * gk);
  Copies copies;
  std::uint32_t next = 0;
  const auto pieces = [&](std::uint32_t bytes, std::uint32_t count,
                          const std::vector<std::uint32_t>& to) {
    for (std::uint32_t p = 0; p < count; ++p) {
      const std::uint32_t begin = bytes / 8 * p / count * 8;
      const std::uint32_t end = bytes / 8 * (p + 1) / count * 8;
      if (end > begin) copies.push_back(multicast(layout, next, end - begin, to));
      next = (next + 1) % (gm * gn * gk);
    }
  };
  const auto tile = [&](std::uint32_t i, std::uint32_t j, std::uint32_t k) {
    return (k * gm + i) * gn + j;
  };
  std::vector<std::uint32_t> to;
  for (std::uint32_t k = 0; k < gk; ++k) {
    for (std::uint32_t i = 0; i < gm; ++i) {
      to.clear();
      for (std::uint32_t j = 0; j < gn; ++j) to.push_back(tile(i, j, k));
      pieces(a_bytes, gn, to);
    }
    for (std::uint32_t j = 0; j < gn; ++j) {
      to.clear();
      for (std::uint32_t i = 0; i < gm; ++i) to.push_back(tile(i, j, k));
      pieces(b_bytes, gm, to);
    }
  }
  return copies;
}

/// Every tile sends separate `bytes` to each other tile.
inline Copies all_to_all(std::uint32_t tiles, std::uint32_t bytes) {
  Layout layout(tiles);
  Copies copies;
  for (std::uint32_t from = 0; from < tiles; ++from) {
    for (std::uint32_t to = 0; to < tiles; ++to) {
      if (from != to) copies.push_back(multicast(layout, from, bytes, {to}));
    }
  }
  return copies;
}

}  // namespace tessera::fabric::patterns
