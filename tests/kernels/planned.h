#pragma once

#include "models/costs/measured_costs.h"

namespace tessera::test {

/// A workload planned for a machine of its own costs.
template <class Kernel, class Options>
Kernel planned(const Options& options, const MachineConfig& machine) {
  MeasuredCosts costs(machine);
  return Kernel(options, costs);
}

}  // namespace tessera::test
