#pragma once

#include <cstdint>
#include <vector>

#include "sim/machine/machine_config.h"

namespace tessera::energy {

/// The voltage at the machine's clock and the idle power of a machine with an energy table. Leaves
/// out: temperature (leakage is at the table's), power gating.
struct Power {
  explicit Power(const MachineConfig& machine);

  double volts;              ///< 0: the table has no points
  double dynamic;            ///< factor of dynamic energies: (volts / nominal)^2
  double leakage_watts = 0;  ///< SRAM by size, logic by area
  double clock_watts = 0;    ///< clock trees, by area of logic
  /// Leakage and clock power by class of nodes, compute tiles first.
  struct Class {
    std::uint32_t count;
    double leakage_watts, clock_watts;
  };
  std::vector<Class> classes;
};

}  // namespace tessera::energy
