#pragma once

#include "models/fabric/list_scheduler.h"

namespace tessera::fabric {

/// Moves the sends of a schedule forward until each port is busy before it, or its sender; none
/// ends later than it was planned, and the order at every port stays. Sorts the sends by start and
/// sets the makespan.
void close_gaps(const Traffic& traffic, const Ports& ports, Schedule& schedule);

}  // namespace tessera::fabric
