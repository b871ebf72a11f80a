#pragma once

#include "models/fabric/list_scheduler.h"

namespace tessera::fabric {

/// Moves each send of a schedule earlier until its sender or one of its receiving ports is busy
/// just before it. No send ends later than planned, and the order at every port is kept. Sorts the
/// sends by start and sets the makespan.
void close_gaps(const Traffic& traffic, const Ports& ports, Schedule& schedule);

}  // namespace tessera::fabric
