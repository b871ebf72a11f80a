#include "models/fabric/scheduled_fabric.h"

#include <algorithm>

namespace tessera::fabric {
namespace {

constexpr std::size_t kGrain = 64;  ///< participants that a host thread takes at a time

}  // namespace

std::uint64_t ScheduledFabric::duration(const Participant& participant) const {
  const ListView list(participant.tile, participant.sram, participant.list);
  const Ports ports(config_, sharing_of(list.header()));
  std::uint64_t end = 0;
  for (std::uint32_t i = 0; i < list.header().sends; ++i) {
    const SendDescriptor send = list.send(i);
    end = std::max(end, send.start + ports.cycles(send.length));
  }
  for (std::uint32_t i = 0; i < list.header().receives; ++i) {
    const ReceiveDescriptor receive = list.receive(i);
    const std::uint64_t way = ports.way_cycles(source_of(receive), index(participant.tile));
    end = std::max(end, receive.start + way + ports.cycles(receive.length));
  }
  return end;
}

/// fixed_cycles + the smallest bound of traffic.h over all port choices, for a pair of tiles with
/// this load each, + the travel time.
Cycle ScheduledFabric::estimate(const FabricConfig& config, const ExchangeLoad& load) {
  const std::uint64_t shared =
      config.pair_sharing ? ceil_div(load.shared, std::uint64_t{2}) : load.shared;
  std::uint64_t ends = ~std::uint64_t{0};
  for (const Ports& ports : port_choices(config))
    ends = std::min(ends, ports.least_cycles(load.sent, load.received + shared));
  const std::uint64_t way = ends == 0         ? 0
                            : load.way_cycles ? *load.way_cycles
                                              : Ports(config).longest_way(load.tiles);
  return Cycle(config.fixed_cycles + ends + way);
}

void ScheduledFabric::set_times(Moved& moved, HostThreads& threads) {
  const std::vector<Participant>& sides = moved.participants;  // by tile
  const std::size_t tiles = sides.empty() ? 0 : index(sides.back().tile) + std::size_t{1};
  if (free_.size() < tiles) free_.resize(tiles);
  for (const Participant& side : sides)
    moved.begin = std::max(moved.begin, free_[index(side.tile)]);
  const Cycle data = moved.begin + Cycle(config_.fixed_cycles);
  threads.for_ranges(sides.size(), kGrain, [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      const Cycle done = data + Cycle(duration(sides[i]));
      moved.tiles[i].done = done;
      free_[index(sides[i].tile)] = done;
    }
  });
}

ExchangeFabric::Passage ScheduledFabric::passage(Cycle begin, const Header& header,
                                                 const ReceiveDescriptor& receive,
                                                 TileId to) const {
  const Ports ports(config_, sharing_of(header));
  const std::uint64_t way = ports.way_cycles(source_of(receive), index(to));
  const Cycle sent = begin + Cycle(config_.fixed_cycles) + Cycle(receive.start);
  return {sent, sent + Cycle(way + ports.cycles(receive.length))};
}

}  // namespace tessera::fabric
