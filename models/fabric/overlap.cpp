#include "models/fabric/overlap.h"

#include <algorithm>
#include <vector>

#include "sim/base/errors.h"

namespace tessera::fabric {
namespace {

/// A destination, compared as one word: address, then number of the copy.
struct Written {
  std::uint64_t word;

  [[nodiscard]] std::uint32_t address() const { return static_cast<std::uint32_t>(word >> 32); }
  [[nodiscard]] std::uint32_t copy() const { return static_cast<std::uint32_t>(word); }
  auto operator<=>(const Written&) const = default;
};

std::string describe(std::uint32_t number, const program::PlacedCopy& copy, std::uint32_t to) {
  return fmt::format("copy {} ({} bytes from tile {} address {:#x} to {:#x})", number, copy.bytes,
                     index(copy.source.tile), copy.source.address.count(), to);
}

/// Destinations grouped by tile: those of tile t are at [begin[t], begin[t + 1]).
struct Grouped {
  std::vector<std::uint32_t> begin;
  std::vector<Written> writes;
};

Grouped by_tile(std::span<const program::PlacedCopy> copies) {
  Grouped grouped;
  std::uint32_t tiles = 0;
  for (const program::PlacedCopy& copy : copies) {
    for (const program::Port& port : copy.destinations) {
      tiles = std::max(tiles, index(port.tile) + 1);
    }
  }
  grouped.begin.assign(tiles + std::size_t{2}, 0);
  for (const program::PlacedCopy& copy : copies) {
    if (copy.bytes == 0) continue;
    for (const program::Port& port : copy.destinations) ++grouped.begin[index(port.tile) + 2];
  }
  for (std::size_t t = 2; t < grouped.begin.size(); ++t) grouped.begin[t] += grouped.begin[t - 1];
  grouped.writes.resize(grouped.begin.back());
  for (std::uint32_t i = 0; i < copies.size(); ++i) {
    if (copies[i].bytes == 0) continue;
    for (const program::Port& port : copies[i].destinations) {
      grouped.writes[grouped.begin[index(port.tile) + 1]++] = {
          std::uint64_t{port.address.count()} << 32 | i};
    }
  }
  return grouped;
}

}  // namespace

void check_overlap(std::uint32_t exchange, std::span<const program::PlacedCopy> copies) {
  Grouped grouped = by_tile(copies);
  for (std::size_t tile = 0; tile + 2 < grouped.begin.size(); ++tile) {
    const std::span<Written> writes(grouped.writes.data() + grouped.begin[tile],
                                    grouped.begin[tile + 1] - grouped.begin[tile]);
    if (!std::ranges::is_sorted(writes)) std::ranges::sort(writes);
    for (std::size_t i = 1; i < writes.size(); ++i) {
      const Written a = writes[i - 1];
      const Written b = writes[i];
      if (std::uint64_t{a.address()} + copies[a.copy()].bytes <= b.address()) continue;
      throw UserError("exchange {}: tile {}: destinations of {} and {} overlap", exchange, tile,
                      describe(a.copy(), copies[a.copy()], a.address()),
                      describe(b.copy(), copies[b.copy()], b.address()));
    }
  }
}

}  // namespace tessera::fabric
