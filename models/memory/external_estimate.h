#pragma once

#include <cstdint>
#include <span>

#include "sim/base/types.h"
#include "sim/machine/machine_config.h"
#include "sim/program/machine_costs.h"

namespace tessera {

/// The most requests that are simulated for one estimate; of more the first ones are.
constexpr std::uint64_t kEstimatedRequests = 200'000;

/// Cycles from the start of these transfers, all in cycle 0 of a machine at rest, to the end of the
/// last. At most one load a tile. Found by running OuterTraffic without bytes, so it is exact up to
/// `most_requests`; above, the first requests of each entry are run, and half of them, and the rest
/// goes on at that rate by the bytes of the busiest channel. Tiles that have channels of their own
/// are run one by one, equal ones once.
Cycle external_cycles(const MachineConfig& machine, std::span<const OuterLoad> loads,
                      std::uint64_t most_requests = kEstimatedRequests);

}  // namespace tessera
