#include "models/fabric/exchange_fabric.h"

#include "sim/base/errors.h"

namespace tessera::fabric {

Token ExchangeFabric::submit(const Participant& side) {
  const Header header = ListView(side.tile, side.sram, side.list).header();
  gathering_.add(header.exchange, header.participants, side);
  return {side.tile, side.list};
}

std::vector<Moved> ExchangeFabric::advance(Cycle to, HostThreads& threads) {
  std::vector<Moved> result;
  while (auto ready = gathering_.take(to)) result.push_back(move(std::move(*ready), threads));
  return result;
}

Moved ExchangeFabric::move(Gathering::Ready exchange, HostThreads& threads) {
  const Cycle ready = exchange.cycle;
  Moved moved{exchange.exchange, ready, ready, std::move(exchange.participants), {}, {}, {}};
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  moved.tiles.reserve(moved.participants.size());
  for (const Mover::Tally& tally : mover_.move(moved.participants, threads)) {
    moved.tiles.push_back(
        {ready, Bytes(tally.sent), Bytes(tally.received), tally.byte_micrometres});
    sent += tally.sent;
    received += tally.received;
  }
  moved.delivered = Bytes(received);
  // A send without a receiver delivers nothing and must not make this negative.
  moved.multicast = Bytes(received > sent ? received - sent : 0);
  set_times(moved, threads);
  return moved;
}

std::vector<trace::Transfer> ExchangeFabric::transfers(const Moved& moved) const {
  std::vector<trace::Transfer> transfers;
  for (const Participant& side : moved.participants) {
    const ListView list(side.tile, side.sram, side.list);
    for (std::uint32_t i = 0; i < list.header().receives; ++i) {
      const ReceiveDescriptor receive = list.receive(i);
      const Passage way = passage(moved.begin, list.header(), receive, side.tile);
      transfers.push_back(
          {TileId{source_of(receive)}, side.tile, way.begin, way.end, Bytes(receive.length)});
    }
  }
  return transfers;
}

}  // namespace tessera::fabric
