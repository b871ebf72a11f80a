#include "models/fabric/outcome.h"

#include <algorithm>

namespace tessera::fabric {

Outcome summarise(std::span<const Mover::Tally> tallies) {
  Outcome outcome;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  outcome.tiles.reserve(tallies.size());
  for (const Mover::Tally& tally : tallies) {
    outcome.tiles.push_back(
        {Cycle(0), Bytes(tally.sent), Bytes(tally.received), tally.byte_micrometres});
    sent += tally.sent;
    received += tally.received;
  }
  outcome.delivered = Bytes(received);
  // A send without a receiver delivers nothing and must not make this negative.
  outcome.multicast = Bytes(received > sent ? received - sent : 0);
  return outcome;
}

Cycle last_start(std::span<const Participant> participants) {
  Cycle latest;
  for (const Participant& p : participants) latest = std::max(latest, p.start);
  return latest;
}

}  // namespace tessera::fabric
