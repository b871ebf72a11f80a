#pragma once

#include <cstdint>
#include <string>

#include "sim/command/simulator.h"

namespace tessera::command {

/// The limit of an integer key for which the config can be planned and placed: the smallest value
/// of a key of the machine, the largest of any other. Found by doubling or halving from the
/// config's own value, then by bisection, which assumes that fitting values have no gaps.
struct Fit {
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 53;  ///< limit of tried values

  std::string key;
  std::uint64_t value = 0;    ///< the last value that fits
  bool smallest = true;       ///< else the largest
  std::uint64_t refused = 0;  ///< its neighbour that does not fit, if `problem`
  std::string problem = {};   ///< why; empty: `value` is the last allowed one, or kMost
};

/// Throws ConfigError if the key is no integer of the config, UserError if no tried value fits.
Fit find_fit(const config::Config& config, const std::string& key, const Simulator& simulator);

/// "machine.tile.sram_kib: 411 is the smallest that fits; 410 does not: ..."
std::string text_of(const Fit& fit);

}  // namespace tessera::command
