#pragma once

#include <cstdint>
#include <vector>

#include "models/fabric/floorplan.h"
#include "sim/machine/machine_config.h"
#include "sim/report/energy_result.h"

/// The chip's area from machine.energy.area and the machine's own sizes, and what follows from it.
/// All need a machine with a table. Leaves out: how area grows with the clock, and falls or grows
/// with latencies: at one clock a shorter latency takes fewer pipeline registers and larger gates,
/// and no public number says which is more (sensitivity names such keys, has_area_model); what of
/// `rest` (links, host, clocks, power, wires) grows with which size.
namespace tessera::energy {

constexpr double kMicrometresPerMm = 1000;
constexpr double kKibPerMib = 1024;

/// mm2 of the whole chip, nodes of all classes, by part:
///   sram          tiles' memory
///   matrix_unit   multiply-adds a slot by input type, and the weights that it holds (W)
///   arithmetic    vector and integer units by lanes and how often they take operands; dividers and
///                 activations by the slots that one takes
///   control       fetch, decoding, control; twice with dual issue
///   registers     of the workers and the supervisor; accumulators (ACC, EXC) of the workers
///   memory_ports  every byte of loads, stores and loads of weights chooses among the banks
///   exchange      every byte that tiles receive chooses among all that tiles send, and where pairs
///                 share between its own and the partner's
///   rest          of the chip, by tile
EnergyResult::Parts chip_area(const MachineConfig& machine);

/// Nodes of one class together; the compute tiles come first.
struct ClassSize {
  std::uint32_t count;
  double sram_mib;
  double logic_mm2;  ///< area of all parts but SRAM
};
std::vector<ClassSize> class_sizes(const MachineConfig& machine);

/// Area of all parts but SRAM.
double logic_mm2(const MachineConfig& machine);

/// A square chip of that area, its pairs of nodes in fabric.columns columns.
fabric::Floorplan floorplan(const MachineConfig& machine);

/// A bank of a tile's SRAM: that of the table, or all there is.
double bank_kib(const TileConfig& tile, const EnergyConfig& table);

/// The side of one tile's SRAM, a square.
double sram_side_mm(const TileConfig& tile, const EnergyConfig& table);

}  // namespace tessera::energy
