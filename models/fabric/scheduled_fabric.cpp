#include "models/fabric/scheduled_fabric.h"

#include <algorithm>

#include "models/fabric/outcome.h"
#include "models/fabric/traffic.h"

namespace tessera::fabric {
namespace {

constexpr std::size_t kGrain = 64;  ///< participants that a host thread takes at a time

}  // namespace

ScheduledFabric::ScheduledFabric(const FabricConfig& config, const Floorplan& floorplan)
    : config_(config), rate_(stream_rate(config)), mover_(floorplan) {}

std::uint32_t ScheduledFabric::column(std::uint32_t tile) const {
  return tile / 2 % std::max(config_.columns, 1U);
}

std::uint64_t ScheduledFabric::duration(const Participant& participant) const {
  const ListView list(participant.tile, participant.sram, participant.list);
  const std::uint32_t here = column(index(participant.tile));
  std::uint64_t end = 0;
  std::uint32_t farthest = 0;
  const auto take = [&](const auto& descriptor) {
    const std::uint64_t cycles = ceil_div(std::uint64_t{descriptor.length}, std::uint64_t{rate_});
    end = std::max(end, descriptor.start + cycles);
  };
  for (std::uint32_t i = 0; i < list.header().sends; ++i) take(list.send(i));
  for (std::uint32_t i = 0; i < list.header().receives; ++i) {
    const ReceiveDescriptor receive = list.receive(i);
    take(receive);
    const std::uint32_t there = column(source_of(receive));
    farthest = std::max(farthest, here > there ? here - there : there - here);
  }
  return end + std::uint64_t{config_.cycles_per_hop} * farthest;
}

/// The bound of traffic.h for a pair of tiles of this load each, and the way between the outermost
/// columns.
Cycle ScheduledFabric::estimate(const FabricConfig& config, const ExchangeLoad& load) {
  const std::uint64_t shared =
      config.pair_sharing ? ceil_div(load.shared, std::uint64_t{2}) : load.shared;
  const std::uint64_t most = std::max(load.sent, load.received + shared);
  const std::uint32_t columns = std::clamp(ceil_div(load.tiles, 2U), 1U, config.columns);
  return Cycle(config.fixed_cycles + ceil_div(most, std::uint64_t{stream_rate(config)}) +
               std::uint64_t{config.cycles_per_hop} * (columns - 1));
}

Outcome ScheduledFabric::exchange(std::span<const Participant> participants, HostThreads& threads) {
  Outcome outcome = summarise(mover_.move(participants, threads));
  const Cycle begin = last_start(participants) + Cycle(config_.fixed_cycles);
  threads.for_ranges(participants.size(), kGrain, [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      outcome.tiles[i].done = begin + Cycle(duration(participants[i]));
    }
  });
  return outcome;
}

}  // namespace tessera::fabric
