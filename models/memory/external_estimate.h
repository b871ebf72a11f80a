#pragma once

#include <cstdint>
#include <span>

#include "sim/base/types.h"
#include "sim/machine/machine_config.h"
#include "sim/program/machine_costs.h"

namespace tessera {

/// Maximum requests simulated for one estimate; of more, only the first ones.
constexpr std::uint64_t kEstimatedRequests = 200'000;

/// Cycles until the last of these transfers ends, all started in cycle 0 on an idle machine. At
/// most one load per tile. Runs OuterTraffic without bytes, so it is exact up to `most_requests`;
/// above, it runs the first requests of each entry, and half of them, and extrapolates that rate by
/// the bytes of the busiest channel. Tiles with channels of their own are run separately, equal
/// ones once.
Cycle external_cycles(const MachineConfig& machine, std::span<const OuterLoad> loads,
                      std::uint64_t most_requests = kEstimatedRequests);

}  // namespace tessera
