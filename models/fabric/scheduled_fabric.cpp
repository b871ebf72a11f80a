#include "models/fabric/scheduled_fabric.h"

#include <algorithm>

#include "models/fabric/outcome.h"

namespace tessera::fabric {
namespace {

constexpr std::size_t kGrain = 64;  ///< participants that a host thread takes at a time

}  // namespace

ScheduledFabric::ScheduledFabric(const FabricConfig& config, const Floorplan& floorplan)
    : config_(config), mover_(floorplan) {}

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

/// The least bound of traffic.h for a pair of tiles of this load each, and the longest way.
Cycle ScheduledFabric::estimate(const FabricConfig& config, const ExchangeLoad& load) {
  const std::uint64_t shared =
      config.pair_sharing ? ceil_div(load.shared, std::uint64_t{2}) : load.shared;
  std::uint64_t ends = ~std::uint64_t{0};
  for (const Ports& ports : port_choices(config))
    ends = std::min(ends, ports.least_cycles(load.sent, load.received + shared));
  const std::uint64_t way = ends > 0 ? Ports(config).longest_way(load.tiles) : 0;
  return Cycle(config.fixed_cycles + ends + way);
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

std::vector<trace::Transfer> ScheduledFabric::transfers(
    std::span<const Participant> participants) const {
  const Cycle begin = last_start(participants) + Cycle(config_.fixed_cycles);
  std::vector<trace::Transfer> transfers;
  for_receives(participants, [&](TileId to, const ReceiveDescriptor& receive, const Header& list) {
    const Ports ports(config_, sharing_of(list));
    const std::uint64_t way = ports.way_cycles(source_of(receive), index(to));
    const Cycle sent = begin + Cycle(receive.start);
    transfers.push_back({TileId{source_of(receive)}, to, sent,
                         sent + Cycle(way + ports.cycles(receive.length)), Bytes(receive.length)});
  });
  return transfers;
}

}  // namespace tessera::fabric
