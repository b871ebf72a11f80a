#include "models/fabric/ideal_fabric.h"

#include "models/fabric/outcome.h"

namespace tessera::fabric {

Outcome IdealFabric::exchange(std::span<const Participant> participants, HostThreads& threads) {
  Outcome outcome = summarise(mover_.move(participants, threads));
  const Cycle done = last_start(participants) + fixed_;
  for (Delivery& delivery : outcome.tiles) delivery.done = done;
  return outcome;
}

std::vector<trace::Transfer> IdealFabric::transfers(
    std::span<const Participant> participants) const {
  const Cycle begin = last_start(participants);
  std::vector<trace::Transfer> transfers;
  for_receives(participants, [&](TileId to, const ReceiveDescriptor& receive, const Header&) {
    transfers.push_back(
        {TileId{source_of(receive)}, to, begin, begin + fixed_, Bytes(receive.length)});
  });
  return transfers;
}

}  // namespace tessera::fabric
