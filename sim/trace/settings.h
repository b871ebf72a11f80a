#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/base/types.h"
#include "sim/config/config.h"

namespace tessera::trace {

/// Content of a trace, and properties of the machine.
struct Settings {
  std::vector<TileId> tiles;     ///< shown one by one, ascending; empty: the machine's phases only
  bool workers = true;           ///< workers of those tiles as well
  std::uint64_t most_bytes = 0;  ///< limit of each file
  std::uint32_t machine_tiles = 0;
  std::uint32_t zones = 1;  ///< zones in the program, each with its own supersteps
  std::uint32_t contexts = 0;
  std::uint64_t cycle_femtoseconds = 0;

  /// Lanes per chosen tile: its own and its workers'.
  [[nodiscard]] std::uint32_t lanes_a_tile() const { return 1 + (workers ? contexts : 0); }
};

/// Throws KeyError if report.trace_tiles names no tiles of the machine.
Settings settings_of(const config::Config& config);

/// Parses "0-63,100" or "all": the machine's tiles among them, ascending. Throws KeyError.
std::vector<TileId> tiles_of(std::string_view text, std::uint32_t machine_tiles);

}  // namespace tessera::trace
