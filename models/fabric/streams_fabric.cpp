#include "models/fabric/streams_fabric.h"

#include <algorithm>
#include <cstring>

#include "sim/base/errors.h"

namespace tessera::fabric {
namespace {

using program::StreamEntry;

std::uint64_t bytes_of(const StreamEntry& entry) {
  return program::stream_bytes(entry.unit, entry.extents);
}

std::span<std::byte> range_of(const Participant& side, const StreamEntry& entry) {
  if (program::reads_nothing(entry.extents)) return {};
  const std::uint64_t reach = program::stream_reach(entry.unit, entry.extents);
  if (entry.address + reach > side.sram.size())
    throw UserError(
        "fabric: tile {}: stream {} of its list at {:#x}: {} bytes at {:#x} do not lie within the "
        "{} bytes of its memory",
        index(side.tile), entry.number, side.list.count(), reach, entry.address, side.sram.size());
  return side.sram.subspan(entry.address, reach);
}

void read(const Participant& side, const StreamEntry& entry, std::vector<std::byte>& into) {
  const std::span<const std::byte> from = range_of(side, entry);
  into.resize(bytes_of(entry));
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
  gathering_.add(header.exchange, header.participants, side);
  return {side.tile, side.list};
}

std::vector<Moved> StreamsFabric::advance(Cycle to, HostThreads& /*threads*/) {
  passed_.clear();
  std::vector<Moved> all;
  while (auto ready = gathering_.take(to)) all.push_back(move(std::move(*ready)));
  return all;
}

/// The ends of each stream, with the addresses of this turn.
std::vector<StreamsFabric::Flow> StreamsFabric::flows_of(const Moved& moved,
                                                         std::span<const program::StreamList> lists,
                                                         const program::OuterTurn& turn) {
  std::vector<Flow> flows;
  for (std::size_t side = 0; side < lists.size(); ++side) {
    for (StreamEntry entry : lists[side].entries) {
      entry.address = static_cast<std::uint32_t>(program::address_of(entry, turn));
      if (entry.number >= flows.size()) flows.resize(entry.number + std::size_t{1});
      Flow& flow = flows[entry.number];
      if (entry.outward == 0) {
        flow.receivers.push_back({side, entry});
        continue;
      }
      if (flow.sender)
        throw UserError("fabric: tile {}: stream {} of exchange {} has another sender",
                        index(moved.participants[side].tile), entry.number, moved.exchange);
      flow.sender = {side, entry};
      flow.size = bytes_of(entry);
    }
  }
  for (std::size_t i = 0; i < flows.size(); ++i) {
    for (const End& end : flows[i].receivers)
      if (bytes_of(end.entry) != flows[i].size)
        throw UserError(
            "fabric: tile {}: stream {} of exchange {} is of other bytes than the {} sent",
            index(moved.participants[end.side].tile), i, moved.exchange, flows[i].size);
  }
  std::erase_if(flows, [](const Flow& flow) { return !flow.sender; });
  return flows;
}

Moved StreamsFabric::move(Gathering::Ready exchange) {
  const Cycle ready = exchange.cycle;
  Moved moved{exchange.exchange, ready, ready, std::move(exchange.participants), {}, {}, {}};
  moved.tiles.assign(moved.participants.size(), {ready, {}, {}, 0});
  std::vector<program::StreamList> lists;
  for (const Participant& side : moved.participants)
    lists.push_back(program::read_stream_list(side.tile, side.sram, side.list));
  const program::OuterTurn turn =
      program::turn_of(lists.front().header.turns, starts_[moved.exchange]++);
  if (!turn.moves) return moved;
  std::vector<Flow> flows = flows_of(moved, lists, turn);
  for (Flow& flow : flows) {
    const Participant& sender = moved.participants[flow.sender->side];
    range_of(sender, flow.sender->entry);
    if (values_) read(sender, flow.sender->entry, flow.bytes);
  }
  std::optional<Cycle> first;
  for (const Flow& flow : flows) {
    const Cycle begin = pass(moved, flow);
    first = first ? std::min(*first, begin) : begin;
  }
  moved.begin = first.value_or(ready);
  for (const Flow& flow : flows)
    for (const End& end : flow.receivers) {
      const Participant& receiver = moved.participants[end.side];
      range_of(receiver, end.entry);
      if (values_) write(receiver, end.entry, flow.bytes);
    }
  return moved;
}

/// Null: unlimited ports.
StreamsFabric::Ports* StreamsFabric::ports_of(const Moved& moved, const End& end) {
  const bool sends = end.entry.outward != 0;
  const StreamConfig& kind = config_.streams.at(end.entry.kind);
  const std::uint32_t count = sends ? kind.send_ports : kind.receive_ports;
  if (count == 0) return nullptr;
  Ports& ports = ports_[{index(moved.participants[end.side].tile), end.entry.kind, sends}];
  ports.resize(count);
  return &ports;
}

/// Reserves the stream's ports and returns when it begins.
Cycle StreamsFabric::pass(Moved& moved, const Flow& flow) {
  std::vector<Cycle*> taken;
  Cycle begin = moved.ready;
  const auto take = [&](const End& end) {
    Ports* const ports = ports_of(moved, end);
    if (ports == nullptr) return;
    taken.push_back(&*std::ranges::min_element(*ports));
    begin = std::max(begin, *taken.back());
  };
  take(*flow.sender);
  for (const End& end : flow.receivers) take(end);
  const StreamConfig& kind = config_.streams.at(flow.sender->entry.kind);
  const Cycle end_of_data = begin + Cycle(stream_cycles(kind, flow.size));
  for (Cycle* port : taken) *port = end_of_data;
  const Cycle done = end_of_data + Cycle(config_.fixed_cycles);
  const Bytes bytes(flow.size);
  Delivery& sent = moved.tiles[flow.sender->side];
  sent.sent += bytes;
  sent.done = std::max(sent.done, done);
  for (const End& to : flow.receivers) {
    Delivery& received = moved.tiles[to.side];
    received.received += bytes;
    received.done = std::max(received.done, done);
    moved.delivered += bytes;
    if (&to != &flow.receivers.front()) moved.multicast += bytes;
    passed_[{moved.ready, moved.exchange}].push_back({moved.participants[flow.sender->side].tile,
                                                      moved.participants[to.side].tile, begin, done,
                                                      bytes});
  }
  return begin;
}

std::vector<trace::Transfer> StreamsFabric::transfers(const Moved& moved) const {
  const auto found = passed_.find({moved.ready, moved.exchange});
  return found == passed_.end() ? std::vector<trace::Transfer>() : found->second;
}

}  // namespace tessera::fabric
