#include "models/sync/barrier.h"

#include "sim/base/errors.h"

namespace tessera {

std::optional<Barrier::Release> Barrier::arrive(const Arrivals& arrivals) {
  arrived_.add(arrivals);
  if (arrived_.tiles < config_.members) return std::nullopt;
  check(arrived_.tiles == config_.members, "barrier: {} arrivals of {} members", arrived_.tiles,
        config_.members);
  const Release release{arrived_.last_at + config_.latency, arrived_.last, arrived_.last_at};
  statistics_.releases += 1;
  statistics_.waited += Cycle(release.at.count() * config_.members - arrived_.sum_at);
  arrived_ = {};
  return release;
}

}  // namespace tessera
