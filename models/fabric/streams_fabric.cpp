#include "models/fabric/streams_fabric.h"

#include <algorithm>
#include <cstring>

#include "sim/base/errors.h"

namespace tessera::fabric {
namespace {

using program::StreamEntry;

std::span<std::byte> range_of(const Participant& side, const StreamEntry& entry) {
  if (program::reads_nothing(entry.extents)) return {};
  const std::uint64_t reach = program::stream_reach(entry.unit, entry.extents);
  if (entry.address + reach > side.sram.size())
    throw UserError(fmt::format(
        "fabric: tile {}: stream {} of its list at {:#x}: {} bytes at {:#x} do not lie within the "
        "{} bytes of its memory",
        index(side.tile), entry.number, side.list.count(), reach, entry.address, side.sram.size()));
  return side.sram.subspan(entry.address, reach);
}

void read(const Participant& side, const StreamEntry& entry, std::vector<std::byte>& into) {
  const std::span<const std::byte> from = range_of(side, entry);
  into.resize(program::stream_bytes(entry.unit, entry.extents));
  std::byte* to = into.data();
  program::walk_units(
      entry.extents, 0,
      [&](std::uint64_t at) {
        std::memcpy(to, from.data() + at, entry.unit);
        to += entry.unit;
      },
      [&] {
        std::memset(to, 0, entry.unit);
        to += entry.unit;
      });
}

void write(const Participant& side, const StreamEntry& entry, std::span<const std::byte> bytes) {
  const std::span<std::byte> into = range_of(side, entry);
  const std::byte* from = bytes.data();
  program::walk_units(
      entry.extents, 0,
      [&](std::uint64_t at) {
        std::memcpy(into.data() + at, from, entry.unit);
        from += entry.unit;
      },
      [] {});
}

}  // namespace

Token StreamsFabric::submit(const Participant& side) {
  const program::TransferHeader header =
      program::read_stream_list(side.tile, side.sram, side.list).header;
  Gathering& gathering = gathering_[header.exchange];
  if (gathering.participants.empty()) gathering.expected = header.participants;
  gathering.participants.push_back(side);
  gathering.ready = std::max(gathering.ready, side.start);
  if (gathering.participants.size() >= gathering.expected) {
    ready_.try_emplace({gathering.ready, header.exchange}, std::move(gathering.participants));
    gathering_.erase(header.exchange);
  }
  return {side.tile, side.list};
}

std::optional<Cycle> StreamsFabric::next_event() const {
  if (ready_.empty()) return std::nullopt;
  return ready_.begin()->first.first;
}

std::vector<Moved> StreamsFabric::advance(Cycle to, HostThreads& /*threads*/) {
  passed_.clear();
  std::vector<Moved> all;
  while (!ready_.empty() && ready_.begin()->first.first <= to) {
    auto next = ready_.extract(ready_.begin());
    all.push_back(move(next.key(), std::move(next.mapped())));
  }
  return all;
}

/// The ends of each stream, with the addresses of the turn.
std::vector<StreamsFabric::Flow> StreamsFabric::flows_of(const Moved& moved,
                                                         std::span<const program::StreamList> lists,
                                                         const program::OuterTurn& turn) {
  std::vector<Flow> flows;
  for (std::size_t side = 0; side < lists.size(); ++side) {
    for (StreamEntry entry : lists[side].entries) {
      entry.address = static_cast<std::uint32_t>(program::address_of(entry, turn));
      if (entry.number >= flows.size()) flows.resize(entry.number + std::size_t{1});
      Flow& flow = flows[entry.number];
      (entry.outward != 0 ? flow.senders : flow.receivers).push_back({side, entry});
    }
  }
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const std::uint64_t bytes = flows[i].senders.size() != 1
                                    ? 0
                                    : program::stream_bytes(flows[i].senders[0].entry.unit,
                                                            flows[i].senders[0].entry.extents);
    for (const End& end : flows[i].receivers)
      if (program::stream_bytes(end.entry.unit, end.entry.extents) != bytes)
        throw UserError(fmt::format(
            "fabric: tile {}: stream {} of exchange {} is of other bytes than the {} sent",
            index(moved.participants[end.side].tile), i, moved.exchange, bytes));
  }
  return flows;
}

Moved StreamsFabric::move(const Ready& key, std::vector<Participant> participants) {
  const auto [ready, number] = key;
  std::ranges::sort(participants, [](const auto& a, const auto& b) { return a.tile < b.tile; });
  Moved moved{number, ready, Cycle(UINT64_MAX), std::move(participants), {}, {}, {}};
  moved.tiles.assign(moved.participants.size(), {ready, {}, {}, 0});
  std::vector<program::StreamList> lists;
  for (const Participant& side : moved.participants)
    lists.push_back(program::read_stream_list(side.tile, side.sram, side.list));
  const program::OuterTurn turn = program::turn_of(lists.front().header.turns, starts_[number]++);
  if (turn.moves) {
    std::vector<Flow> flows = flows_of(moved, lists, turn);
    for (Flow& flow : flows)
      for (const End& end : flow.senders) read(moved.participants[end.side], end.entry, flow.bytes);
    for (const Flow& flow : flows) pass(moved, flow);
    for (const Flow& flow : flows)
      for (const End& end : flow.receivers)
        write(moved.participants[end.side], end.entry, flow.bytes);
  }
  moved.begin = std::max(ready, std::min(moved.begin, moved.tiles.front().done));
  return moved;
}

/// Null: it has any number.
StreamsFabric::Ports* StreamsFabric::ports_of(const Moved& moved, const End& end) {
  const bool sends = end.entry.outward != 0;
  const StreamConfig& kind = config_.streams.at(end.entry.kind);
  const std::uint32_t count = sends ? kind.send_ports : kind.receive_ports;
  if (count == 0) return nullptr;
  Ports& ports = ports_[{index(moved.participants[end.side].tile), end.entry.kind, sends}];
  ports.resize(count);
  return &ports;
}

/// Finds when the stream passes, and takes the ports until then.
void StreamsFabric::pass(Moved& moved, const Flow& flow) {
  std::vector<Cycle*> taken;
  Cycle begin = moved.ready;
  const auto take = [&](const End& end) {
    Ports* const ports = ports_of(moved, end);
    if (ports == nullptr) return;
    taken.push_back(&*std::ranges::min_element(*ports));
    begin = std::max(begin, *taken.back());
  };
  for (const End& end : flow.senders) take(end);
  for (const End& end : flow.receivers) take(end);
  const StreamConfig& kind = config_.streams.at(flow.senders.front().entry.kind);
  const Cycle end_of_data = begin + Cycle(stream_cycles(kind, flow.bytes.size()));
  for (Cycle* port : taken) *port = end_of_data;
  const Cycle done = end_of_data + Cycle(config_.fixed_cycles);
  const Bytes bytes(flow.bytes.size());
  moved.begin = std::min(moved.begin, begin);
  const End& from = flow.senders.front();
  moved.tiles[from.side].sent += bytes;
  moved.tiles[from.side].done = std::max(moved.tiles[from.side].done, done);
  for (const End& to : flow.receivers) {
    moved.tiles[to.side].received += bytes;
    moved.tiles[to.side].done = std::max(moved.tiles[to.side].done, done);
    moved.delivered += bytes;
    passed_[{moved.ready, moved.exchange}].push_back(
        {moved.participants[from.side].tile, moved.participants[to.side].tile, begin, done, bytes});
  }
  if (!flow.receivers.empty())
    moved.multicast += Bytes((flow.receivers.size() - 1) * bytes.count());
}

std::string StreamsFabric::missing(Token side) const {
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

std::vector<trace::Transfer> StreamsFabric::transfers(const Moved& moved) const {
  const auto found = passed_.find({moved.ready, moved.exchange});
  return found == passed_.end() ? std::vector<trace::Transfer>() : found->second;
}

}  // namespace tessera::fabric
