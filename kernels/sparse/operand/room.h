#pragma once

#include "kernels/sparse/operand/weights.h"
#include "sim/machine/machine_config.h"

namespace tessera::sparse {

/// Returns `weights`; throws UserError if, with a seeded W, X [k, n] and Y [m, n] or its values are
/// more than the SRAM of all tiles holds, before any of it is made.
const WeightOptions& fitting(const WeightOptions& weights, std::uint64_t n,
                             const MachineConfig& machine);

}  // namespace tessera::sparse
