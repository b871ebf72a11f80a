#pragma once

#include "models/costs/measured_costs.h"
#include "models/fabric/fabric.h"
#include "sim/program/image.h"
#include "sim/program/workload.h"

namespace tessera::test {

/// A workload planned for a machine of its own costs.
template <class Kernel, class Options>
Kernel planned(const Options& options, const MachineConfig& machine) {
  MeasuredCosts costs(machine);
  return Kernel(options, costs);
}

/// Bytes of the fullest tile; throws UserError if the program does not fit.
inline std::uint64_t compiled_bytes(const Workload& workload, const MachineConfig& machine) {
  const auto exchanges = fabric::make_exchange_compiler(machine.fabric);
  return program::summarise_memory(program::compile(workload.build(), machine, *exchanges))
      .max_bytes;
}

}  // namespace tessera::test
