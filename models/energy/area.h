#pragma once

#include "models/fabric/floorplan.h"
#include "sim/machine/machine_config.h"

/// The chip's area from machine.energy, and what follows from it. Both need a machine with a table.
/// Leaves out: how the area that is no SRAM divides among cores, matrix units, exchange and links,
/// which no maker publishes.
namespace tessera::energy {

constexpr double kMicrometresPerMm = 1000;

struct Area {
  double sram_mm2 = 0;
  double logic_mm2 = 0;
  [[nodiscard]] double total_mm2() const { return sram_mm2 + logic_mm2; }
};

Area chip_area(const MachineConfig& machine);

/// A square chip of that area, its pairs of tiles in fabric.columns columns.
fabric::Floorplan floorplan(const MachineConfig& machine);

/// The side of one tile's SRAM, a square.
double sram_side_mm(const MachineConfig& machine);

}  // namespace tessera::energy
