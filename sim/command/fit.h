#pragma once

#include <cstdint>
#include <string>

#include "sim/command/simulator.h"

namespace tessera::command {

/// Which value of an integer key is the last with which the config can be planned and placed: the
/// smallest of a key of the machine, the largest of any other. By doubling and halving from the
/// config's own value, then by bisection: between the two values that it names what fits is taken
/// to go on without gaps.
struct Fit {
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 53;  ///< larger ones are not tried

  std::string key;
  std::uint64_t value = 0;    ///< that fits
  bool smallest = true;       ///< else the largest
  std::uint64_t refused = 0;  ///< its neighbour that does not; if `problem`
  std::string problem = {};   ///< why not; empty: value is the end of what the key may be, or kMost
};

/// Throws ConfigError for a key that is no integer of the config, UserError where no value that was
/// tried fits.
Fit find_fit(const config::Config& config, const std::string& key, const Simulator& simulator);

/// "machine.tile.sram_kib: 411 is the smallest that fits; 410 does not: ..."
std::string text_of(const Fit& fit);

}  // namespace tessera::command
