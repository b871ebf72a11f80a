#pragma once

#include <cstdint>
#include <vector>

#include "models/fabric/floorplan.h"
#include "sim/machine/machine_config.h"
#include "sim/report/energy_result.h"

/// The chip's area from machine.energy.area and the machine's own sizes, and quantities derived
/// from it. All functions need a machine with an energy table. Leaves out: growth of area with the
/// clock; change of area with latencies (at one clock a shorter latency takes fewer pipeline
/// registers and larger gates, and no public number says which is more; sensitivity names such
/// keys, has_area_model); how `rest` (links, host, clocks, power, wires) scales with any size.
namespace tessera::energy {

constexpr double kMicrometresPerMm = 1000;
constexpr double kKibPerMib = 1024;

/// Area of the whole chip (nodes of all classes) in mm2, by part:
///   sram          tiles' memory
///   matrix_unit   multiply-adds per slot by input type, and the held weights (W)
///   arithmetic    vector and integer units by lanes and issue rate; dividers and activations by
///                 slots per operation
///   control       fetch, decoding, control; doubled by dual issue
///   registers     of the workers and the supervisor; accumulators (ACC, EXC) of the workers
///   memory_ports  multiplexers: each byte of loads, stores and weight loads selects a bank
///   exchange      multiplexers: each received byte selects one of all sent bytes; with pair
///                 sharing also the tile's own or its partner's input
///   rest          of the chip, by tile
EnergyResult::Parts chip_area(const MachineConfig& machine);

/// Totals of one class of nodes; the compute tiles come first.
struct ClassSize {
  std::uint32_t count;
  double sram_mib;
  double logic_mm2;  ///< area of all parts but SRAM
};
std::vector<ClassSize> class_sizes(const MachineConfig& machine);

/// Area of all parts but SRAM.
double logic_mm2(const MachineConfig& machine);

/// Floorplan of a square chip of the total area, with pairs of nodes in fabric.columns columns.
fabric::Floorplan floorplan(const MachineConfig& machine);

/// Size of an SRAM bank: the table's value, or the whole SRAM.
double bank_kib(const TileConfig& tile, const EnergyConfig& table);

/// Side length of one tile's SRAM, assumed square.
double sram_side_mm(const TileConfig& tile, const EnergyConfig& table);

}  // namespace tessera::energy
