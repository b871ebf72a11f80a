#pragma once

#include "models/fabric/fabric.h"
#include "models/fabric/mover.h"

namespace tessera::fabric {

/// The byte counts of an exchange; Delivery::done is left to the fabric.
Outcome summarise(std::span<const Mover::Tally> tallies);

/// Calls `use(TileId, ReceiveDescriptor, Header)` for each receive of each participant, in order.
template <class Use>
void for_receives(std::span<const Participant> participants, const Use& use) {
  for (const Participant& p : participants) {
    const ListView list(p.tile, p.sram, p.list);
    for (std::uint32_t i = 0; i < list.header().receives; ++i)
      use(p.tile, list.receive(i), list.header());
  }
}

/// When the last participant has started; 0 if there is none.
Cycle last_start(std::span<const Participant> participants);

}  // namespace tessera::fabric
