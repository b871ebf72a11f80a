#pragma once

#include <cstdint>
#include <vector>

#include "sim/machine/machine_config.h"

namespace tessera::energy {

/// The voltage at the machine's clock and the power of a chip that does nothing, on a machine with
/// a table. Leaves out: temperature (leakage is that of the table's), parts that are switched off.
struct Power {
  explicit Power(const MachineConfig& machine);

  double volts;              ///< 0: the table has no points
  double dynamic;            ///< factor of dynamic energies: (volts / nominal)^2
  double leakage_watts = 0;  ///< SRAM by size, logic by area
  double clock_watts = 0;    ///< clock trees, by area of logic
  /// Both by class of nodes, compute tiles first.
  struct Class {
    std::uint32_t count;
    double leakage_watts, clock_watts;
  };
  std::vector<Class> classes;
};

}  // namespace tessera::energy
