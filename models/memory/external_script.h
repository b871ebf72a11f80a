#pragma once

#include <cstdint>

#include "sim/machine/machine_config.h"
#include "sim/program/machine_costs.h"

namespace tessera {

/// Cycles until the last tile has come to the end of a script, from its begin on, with nothing
/// under way then. Found by running OuterTraffic without bytes; tiles are their work alone.
std::uint64_t script_cycles(const MachineConfig& machine, const OuterScript& script);

}  // namespace tessera
