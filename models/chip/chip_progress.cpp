#include <algorithm>

#include "models/chip/chip.h"
#include "models/chip/stuck_tiles.h"
#include "sim/base/counted.h"
#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/program/transfer_list.h"

// Error messages for a chip on which no tile makes progress.
namespace tessera {

void Chip::check_finished() const {
  try {
    if (agenda_.failure()) std::rethrow_exception(agenda_.failure());
  } catch (const Agenda::Deserted&) {
    const std::vector<Tile>& tiles = tiles_.tiles();
    std::vector<std::string> ended(tiles.size());
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      const WaitReason& reason = tiles[i].arrival();
      if (reason.kind == WaitReason::Kind::done && !tiles[i].program().image().idle)
        ended[i] = fmt::format("ended at cycle {} while others still wait", reason.at.count());
    }
    throw stuck("no progress: nothing will release the tiles that wait" +
                summarise_tiles(ended, kinds()));
  } catch (const Agenda::OutOfTime& end) {
    throw stuck(fmt::format("the run passed cycle {}, the last that simulated time can express",
                            end.last.count()));
  } catch (const TileArray::PastLimit&) {
    throw stuck(fmt::format("tiles ran past the limit of {} (--max-cycles)",
                            counted(settings_.common().max_cycles.count(), "cycle")));
  } catch (const Sync::BranchedApart& apart) {
    throw branched_apart(apart.zone);
  }
}

/// Without external memory no submitted transfer has Carrier::memory.
const FabricModule& Chip::carrier_of(program::Carrier carrier) const {
  if (carrier == program::Carrier::host) return host_link_;
  return carrier == program::Carrier::memory && memory_ ? *memory_ : fabric_;
}

std::string Chip::state(const Tile& tile, const std::vector<std::uint32_t>& arrived) const {
  const WaitReason& reason = tile.arrival();
  const std::string where = "pc " + tile.program().where(tile.pc());
  switch (reason.kind) {
    case WaitReason::Kind::done:
      return {};
    case WaitReason::Kind::horizon:
    case WaitReason::Kind::limit:
      return tile.workers() != nullptr && !tile.workers()->endless().empty()
                 ? tile.workers()->endless()
                 : fmt::format("supervisor running at cycle {}, {}", reason.at.count(), where);
    case WaitReason::Kind::sync: {
      const Barrier& barrier = sync_.barrier(reason.zone);
      return fmt::format("waiting at sync zone {} since cycle {} ({} of {} tiles arrived), {}",
                         reason.zone, reason.at.count(), arrived[reason.zone], barrier.members(),
                         where);
    }
    case WaitReason::Kind::transfer:
      break;
  }
  return fmt::format("in {} since cycle {}, {}",
                     fmt::join(mapped(tile.awaited(),
                                      [&](Address list) {
                                        return carrier_of(program::carrier_of(tile.sram(), list))
                                            .fabric()
                                            .missing({tile.id(), list});
                                      }),
                               ", "),
                     reason.at.count(), where);
}

NoProgress Chip::stuck(const std::string& problem) const {
  // Counts here: in an aborted run the barriers may lack some of the arrivals.
  std::vector<std::uint32_t> arrived;
  for (const Tile& tile : tiles_.tiles()) {
    const WaitReason& reason = tile.arrival();
    if (reason.kind != WaitReason::Kind::sync) continue;
    arrived.resize(std::max<std::size_t>(arrived.size(), reason.zone + 1));
    ++arrived[reason.zone];
  }
  const auto state_of = [&](const Tile& tile) { return state(tile, arrived); };
  return NoProgress(problem + summarise_tiles(mapped(tiles_.tiles(), state_of), kinds()));
}

std::vector<std::string> Chip::kinds() const {
  return mapped(tiles_.tiles(), [](const Tile& tile) { return tile.program().kind(); });
}

/// Names the lowest tile that waits in the zone and the lowest that waits for another step.
NoProgress Chip::branched_apart(std::size_t zone) const {
  const auto reason_of = [this](std::uint32_t tile) -> const WaitReason& {
    return tiles_.tiles()[tile].arrival();
  };
  const auto next = [&](std::uint32_t tile, auto wanted) {
    while (reason_of(tile).kind != WaitReason::Kind::sync || reason_of(tile).zone != zone ||
           !wanted(reason_of(tile)))
      ++tile;
    return tile;
  };
  const auto step_name = [&](std::uint32_t tile) {
    const std::uint32_t step = reason_of(tile).sync_step;
    const std::vector<program::StepInfo>& steps = accounts_.steps();
    return step < steps.size() ? fmt::format("step {} ({})", step, steps[step].name)
                               : std::string("no step");
  };
  const std::uint32_t one = next(0, [](const WaitReason&) { return true; });
  const std::uint32_t other = next(
      one, [&](const WaitReason& reason) { return reason.sync_step != reason_of(one).sync_step; });
  return NoProgress(fmt::format(
      "tiles of sync zone {} branched apart: tile {} waits before {}, tile {} before {}", zone, one,
      step_name(one), other, step_name(other)));
}

}  // namespace tessera
