#pragma once

#include "models/fabric/fabric.h"
#include "models/fabric/mover.h"

namespace tessera::fabric {

/// The byte counts of an exchange; Delivery::done is left to the fabric.
Outcome summarise(std::span<const Mover::Tally> tallies);

/// When the last participant has started; 0 if there is none.
Cycle last_start(std::span<const Participant> participants);

}  // namespace tessera::fabric
