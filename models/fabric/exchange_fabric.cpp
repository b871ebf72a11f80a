#include "models/fabric/exchange_fabric.h"

#include <algorithm>

#include "sim/base/errors.h"

namespace tessera::fabric {

Token ExchangeFabric::submit(const Participant& side) {
  const ListView list(side.tile, side.sram, side.list);
  const std::uint32_t number = list.header().exchange;
  Gathering& gathering = gathering_[number];
  if (gathering.participants.empty()) gathering.expected = list.header().participants;
  gathering.participants.push_back(side);
  gathering.ready = std::max(gathering.ready, side.start);
  if (gathering.participants.size() >= gathering.expected) {
    ready_.try_emplace({gathering.ready, number}, std::move(gathering.participants));
    gathering_.erase(number);
  }
  return {side.tile, side.list};
}

std::optional<Cycle> ExchangeFabric::next_event() const {
  if (ready_.empty()) return std::nullopt;
  return ready_.begin()->first.first;
}

std::vector<Moved> ExchangeFabric::advance(Cycle to, HostThreads& threads) {
  std::vector<Moved> result;
  while (!ready_.empty() && ready_.begin()->first.first <= to) {
    auto next = ready_.extract(ready_.begin());
    result.push_back(move(next.key(), std::move(next.mapped()), threads));
  }
  return result;
}

Moved ExchangeFabric::move(const Ready& key, std::vector<Participant> participants,
                           HostThreads& threads) {
  const auto [ready, number] = key;
  std::ranges::sort(participants, [](const auto& a, const auto& b) { return a.tile < b.tile; });
  Moved moved{number, ready, ready, std::move(participants), {}, {}, {}};
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

std::string ExchangeFabric::missing(Token side) const {
  const auto is_side = [side](const Participant& participant) {
    return participant.tile == side.tile && participant.list == side.list;
  };
  for (const auto& [number, gathering] : gathering_)
    if (std::ranges::any_of(gathering.participants, is_side))
      return fmt::format("exchange {}, waiting for {} of {} participants", number,
                         gathering.expected - gathering.participants.size(), gathering.expected);
  for (const auto& [when, participants] : ready_)
    if (std::ranges::any_of(participants, is_side))
      return fmt::format("exchange {}, which all have started", when.second);
  return {};
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
