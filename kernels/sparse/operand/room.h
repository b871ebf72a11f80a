#pragma once

#include "kernels/sparse/operand/weights.h"
#include "sim/machine/machine_config.h"

namespace tessera::sparse {

/// The same. Throws UserError if the values of a seeded W alone are more than the SRAM of all tiles
/// holds, before any of it is made.
const WeightOptions& fitting(const WeightOptions& weights, const MachineConfig& machine);

}  // namespace tessera::sparse
