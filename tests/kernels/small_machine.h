#pragma once

#include <cstdint>

#include "sim/machine/machine_config.h"
#include "tests/sim/machine/units.h"

namespace tessera::test {

/// The default machine with few tiles, whose workers start one after the other as on silicon.
inline MachineConfig small_machine(std::uint32_t tiles, std::uint32_t sram_kib = 256) {
  MachineConfig machine;
  machine.name = "small";
  machine.tiles = tiles;
  machine.tile.sram_kib = sram_kib;
  machine.tile.matrix_unit = full_unit();
  machine.tile.supervisor.launch_stagger_cycles = 4;
  return machine;
}

}  // namespace tessera::test
