#include "models/fabric/ideal_fabric.h"

#include "models/fabric/outcome.h"

namespace tessera::fabric {

Outcome IdealFabric::exchange(std::span<const Participant> participants, HostThreads& threads) {
  Outcome outcome = summarise(mover_.move(participants, threads));
  const Cycle done = last_start(participants) + fixed_;
  for (Delivery& delivery : outcome.tiles) delivery.done = done;
  return outcome;
}

}  // namespace tessera::fabric
