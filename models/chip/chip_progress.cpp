#include "models/chip/chip.h"
#include "models/chip/stuck_tiles.h"
#include "sim/base/errors.h"

// What the chip says when it stands still.
namespace tessera {

void Chip::check_finished() const {
  if (failure_) std::rethrow_exception(failure_);
  if (ended_ == tiles_.size()) return;
  std::vector<std::string> ended(tiles_.size());
  for (std::size_t i = 0; i < tiles_.size(); ++i) {
    const Arrival& arrival = arrivals_[i];
    if (arrival.kind == Arrival::Kind::done)
      ended[i] = fmt::format("ended at cycle {} while others still wait", arrival.at.count());
  }
  throw stuck("no progress: nothing will release the tiles that wait" + summarise_tiles(ended));
}

std::string Chip::state(TileId tile) const {
  const Arrival& arrival = arrivals_[index(tile)];
  const Tile& self = tiles_[index(tile)];
  const std::string where = "pc " + self.program().where(self.pc());
  switch (arrival.kind) {
    case Arrival::Kind::done:
      return {};
    case Arrival::Kind::limit:
      return self.workers() != nullptr && !self.workers()->endless().empty()
                 ? self.workers()->endless()
                 : fmt::format("supervisor running at cycle {}, {}", arrival.at.count(), where);
    case Arrival::Kind::sync: {
      const Barrier& barrier = sync_.barrier(arrival.zone);
      return fmt::format("waiting at sync zone {} since cycle {} ({} of {} tiles arrived), {}",
                         arrival.zone, arrival.at.count(), barrier.arrived(), barrier.members(),
                         where);
    }
    case Arrival::Kind::exchange_wait:
      break;
  }
  return fmt::format("in {} since cycle {}, {}", fabric_.exchanges.missing(tile),
                     arrival.at.count(), where);
}

NoProgress Chip::stuck(const std::string& problem) const {
  std::vector<std::string> states;
  states.reserve(tiles_.size());
  for (const Tile& tile : tiles_) states.push_back(state(tile.id()));
  return NoProgress(problem + summarise_tiles(states));
}

NoProgress Chip::branched_apart(TileId one, TileId other) const {
  const auto step_name = [this](TileId tile) {
    const std::uint32_t step = arrivals_[index(tile)].sync_step;
    return step < steps_.size() ? fmt::format("step {} ({})", step, steps_[step].name)
                                : std::string("no step");
  };
  return NoProgress(fmt::format(
      "tiles of sync zone {} branched apart: tile {} waits before {}, tile {} before {}",
      arrivals_[index(one)].zone, index(one), step_name(one), index(other), step_name(other)));
}

}  // namespace tessera
