#include "models/energy/area.h"

#include <algorithm>
#include <cmath>

#include "sim/base/types.h"

namespace tessera::energy {
namespace {

double tile_sram_mm2(const MachineConfig& machine) {
  constexpr double kKibPerMib = 1024;
  return machine.tile.sram_kib / kKibPerMib * machine.energy.sram_mm2_per_mib;
}

}  // namespace

Area chip_area(const MachineConfig& machine) {
  return {machine.tiles * tile_sram_mm2(machine),
          machine.tiles * machine.energy.logic_mm2_per_tile};
}

fabric::Floorplan floorplan(const MachineConfig& machine) {
  const double side_um = std::sqrt(chip_area(machine).total_mm2()) * kMicrometresPerMm;
  const std::uint32_t pairs = ceil_div(machine.tiles, 2U);
  const std::uint32_t columns = std::min(machine.fabric.columns, pairs);
  const std::uint32_t rows = ceil_div(pairs, columns);
  // At least one, so that a floorplan that is known says so.
  const auto pitch = [side_um](std::uint32_t count) {
    return static_cast<std::uint32_t>(std::max(1L, std::lround(side_um / count)));
  };
  return {columns, pitch(columns), pitch(rows)};
}

double sram_side_mm(const MachineConfig& machine) { return std::sqrt(tile_sram_mm2(machine)); }

}  // namespace tessera::energy
