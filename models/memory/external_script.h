#pragma once

#include <cstdint>

#include "sim/machine/machine_config.h"
#include "sim/program/machine_costs.h"

namespace tessera {

/// Cycles until the last tile reaches the end of a script that starts on an idle machine. Runs
/// OuterTraffic without bytes; tiles are modelled by their work times only.
std::uint64_t script_cycles(const MachineConfig& machine, const OuterScript& script);

}  // namespace tessera
