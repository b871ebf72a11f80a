#pragma once

#include <cstdint>

#include "sim/machine/machine_config.h"
#include "tests/sim/machine/units.h"

namespace tessera::test {

/// The default machine with few tiles, whose workers launch one after the other as on silicon.
inline MachineConfig small_machine(std::uint32_t tiles, std::uint32_t sram_kib = 256) {
  MachineConfig machine{.name = "small", .tiles = tiles};
  machine.tile.sram_kib = sram_kib;
  machine.tile.matrix_unit = full_unit();
  machine.tile.supervisor.launch_stagger_cycles = 4;
  return machine;
}

/// A small machine with `channels` channels of external memory of at most 8 bytes a cycle each.
inline MachineConfig outside_machine(std::uint32_t tiles, std::uint32_t channels, bool overlap) {
  MachineConfig machine = small_machine(tiles);
  machine.has_external = true;
  machine.tile.overlap = overlap;
  machine.external.channels = channels;
  machine.external.mib_per_channel = 16;
  machine.external.dma_bytes_per_cycle = 16;
  machine.external.way_cycles = 30;
  machine.external.setup_cycles = 10;
  machine.external.dram.clock_ghz = machine.clock_ghz;
  machine.external.dram.bytes_per_clock = 8;
  machine.external.dram.rcd_clocks = machine.external.dram.rp_clocks = 14;
  machine.external.dram.cl_clocks = 14;
  machine.external.dram.ras_clocks = 30;
  return machine;
}

}  // namespace tessera::test
