#pragma once

#include <cstdint>

#include "sim/base/types.h"
#include "sim/machine/machine_config.h"

namespace tessera {

/// What all tiles of a machine share in one run.
struct TileSettings {
  TileConfig tile;
  Cycle max_cycles;        ///< code that passes it has made no progress
  std::uint64_t seed = 1;  ///< of rnd.64, mixed with tile and worker
  bool check_races = false;
  bool count_activity = false;   ///< for Tile::record(ActivityAccount*)
  bool profile = false;          ///< of codelets, for engine::profile
  std::uint32_t sync_zones = 1;  ///< zones 0 to this - 1 exist
};

}  // namespace tessera
