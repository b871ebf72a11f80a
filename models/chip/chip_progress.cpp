#include "models/chip/chip.h"
#include "models/chip/stuck_tiles.h"
#include "sim/base/errors.h"
#include "sim/base/ranges.h"

// Messages of a chip on which no tile progresses.
namespace tessera {

void Chip::check_finished() const {
  if (failure_) std::rethrow_exception(failure_);
}

NoProgress Chip::nothing_releases() const {
  std::vector<std::string> ended(tiles_.size());
  for (std::size_t i = 0; i < tiles_.size(); ++i) {
    const Standing& standing = tiles_[i].arrival();
    if (standing.kind == Standing::Kind::done)
      ended[i] = fmt::format("ended at cycle {} while others still wait", standing.at.count());
  }
  return stuck("no progress: nothing will release the tiles that wait" + summarise_tiles(ended));
}

std::string Chip::state(TileId tile) const {
  const Standing& standing = arrival(tile);
  const Tile& self = tiles_[index(tile)];
  const std::string where = "pc " + self.program().where(self.pc());
  switch (standing.kind) {
    case Standing::Kind::done:
      return {};
    case Standing::Kind::limit:
      return self.workers() != nullptr && !self.workers()->endless().empty()
                 ? self.workers()->endless()
                 : fmt::format("supervisor running at cycle {}, {}", standing.at.count(), where);
    case Standing::Kind::sync: {
      const Barrier& barrier = sync_.barrier(standing.zone);
      return fmt::format("waiting at sync zone {} since cycle {} ({} of {} tiles arrived), {}",
                         standing.zone, standing.at.count(), barrier.arrived(), barrier.members(),
                         where);
    }
    case Standing::Kind::exchange_wait:
      break;
  }
  return fmt::format("in {} since cycle {}, {}", fabric_.exchanges.missing(tile),
                     standing.at.count(), where);
}

NoProgress Chip::stuck(const std::string& problem) const {
  return NoProgress(problem + summarise_tiles(mapped(
                                  tiles_, [this](const Tile& tile) { return state(tile.id()); })));
}

/// Names the lowest tile that waits there, and the lowest that waits for another step.
NoProgress Chip::branched_apart(std::size_t zone) const {
  const auto standing_of = [this](std::uint32_t tile) -> const Standing& {
    return tiles_[tile].arrival();
  };
  const auto next = [&](std::uint32_t tile, auto wanted) {
    while (standing_of(tile).kind != Standing::Kind::sync || standing_of(tile).zone != zone ||
           !wanted(standing_of(tile)))
      ++tile;
    return tile;
  };
  const auto step_name = [&](std::uint32_t tile) {
    const std::uint32_t step = standing_of(tile).sync_step;
    return step < steps_.size() ? fmt::format("step {} ({})", step, steps_[step].name)
                                : std::string("no step");
  };
  const std::uint32_t one = next(0, [](const Standing&) { return true; });
  const std::uint32_t other = next(one, [&](const Standing& standing) {
    return standing.sync_step != standing_of(one).sync_step;
  });
  return NoProgress(fmt::format(
      "tiles of sync zone {} branched apart: tile {} waits before {}, tile {} before {}", zone, one,
      step_name(one), other, step_name(other)));
}

}  // namespace tessera
