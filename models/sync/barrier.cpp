#include "models/sync/barrier.h"

namespace tessera {

std::optional<Barrier::Release> Barrier::arrive(TileId tile, Cycle at) {
  const bool later = at > last_arrival_ || (at == last_arrival_ && index(tile) < index(last_));
  if (arrived_ == 0 || later) {
    last_ = tile;
    last_arrival_ = at;
  }
  arrival_sum_ += at.count();
  if (++arrived_ < config_.members) return std::nullopt;
  const Release release{last_arrival_ + config_.latency, last_, last_arrival_};
  statistics_.releases += 1;
  statistics_.waited += Cycle(release.at.count() * config_.members - arrival_sum_);
  arrived_ = 0;
  arrival_sum_ = 0;
  return release;
}

}  // namespace tessera
