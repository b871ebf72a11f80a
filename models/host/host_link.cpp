#include "models/host/host_link.h"

#include <algorithm>
#include <utility>

#include "sim/base/errors.h"
#include "sim/program/host_list.h"

namespace tessera {

using fabric::Moved;
using fabric::Participant;
using program::HostList;

namespace {

/// Copies between a tile's SRAM, at the places that its list names, and `bytes`; returns how many.
template <class Copy>
std::size_t for_entries(const Participant& side, const Copy& copy) {
  const HostList list = program::read_host_list(side.tile, side.sram, side.list);
  std::size_t at = 0;
  for (const program::HostEntry& entry : list.entries) {
    copy(side.sram.subspan(entry.address, entry.bytes), at);
    at += entry.bytes;
  }
  return at;
}

}  // namespace

HostLink::HostLink(const MachineConfig& machine, const std::vector<program::HostStream>& streams)
    : machine_(machine) {
  for (const program::HostStream& host : streams) {
    Stream& stream = streams_[host.exchange];
    stream.host = host;
    for (std::size_t i = 0; i < host.tiles.size(); ++i) stream.pieces[host.tiles[i]].push_back(i);
  }
}

void HostLink::begin() {
  for (auto& [exchange, stream] : streams_) {
    stream.before += std::exchange(stream.turns, 0);
    stream.starts = 0;
  }
}

std::uint64_t HostLink::bytes_of(const Stream& stream, TileId tile) const {
  const auto pieces = stream.pieces.find(tile);
  std::uint64_t sum = 0;
  if (pieces != stream.pieces.end())
    for (const std::size_t piece : pieces->second) sum += stream.host.transfer.pieces[piece].bytes;
  return sum;
}

fabric::Token HostLink::submit(const Participant& side) {
  const HostList list = program::read_host_list(side.tile, side.sram, side.list);
  const auto fail = [&](const std::string& problem) {
    throw UserError(fmt::format("tile {}: list of a transfer with the host at {:#x}: {}",
                                index(side.tile), side.list.count(), problem));
  };
  const auto found = streams_.find(list.header.exchange);
  if (found == streams_.end())
    fail(fmt::format("exchange {} is none with the host", list.header.exchange));
  Stream& stream = found->second;
  std::uint64_t named = 0;
  for (const program::HostEntry& entry : list.entries) named += entry.bytes;
  const std::uint64_t wanted = bytes_of(stream, side.tile);
  if (named != wanted) fail(fmt::format("names {} bytes, the host has {}", named, wanted));
  stream.started.push_back(side);
  if (stream.started.size() == stream.pieces.size()) join(stream);
  return {side.tile, side.list};
}

/// All tiles have started a turn.
void HostLink::join(Stream& stream) {
  Flight flight{&stream, {}, std::exchange(stream.started, {}), {}};
  std::ranges::sort(flight.participants, {}, &Participant::tile);
  for (const Participant& side : flight.participants)
    flight.ready = std::max(flight.ready, side.start);
  const Participant& any = flight.participants.front();
  const HostList list = program::read_host_list(any.tile, any.sram, any.list);
  const std::optional<std::uint64_t> turn = program::turn_number(list.header, stream.starts++);
  if (turn) {
    flight.turn = stream.before + *turn;
    stream.turns = std::max(stream.turns, *turn + 1);
  }
  ready_.push_back(std::move(flight));
}

std::optional<Cycle> HostLink::next_event() const {
  std::optional<Cycle> next;
  if (!under_way_.empty()) next = under_way_.front().under_way->tiles.front().done;
  for (const Flight& flight : ready_) next = next ? std::min(*next, flight.ready) : flight.ready;
  return next;
}

std::vector<Moved> HostLink::advance(Cycle to, HostThreads& /*threads*/) {
  std::ranges::sort(ready_, [](const Flight& a, const Flight& b) {
    return std::pair(a.ready, a.stream->host.exchange) <
           std::pair(b.ready, b.stream->host.exchange);
  });
  const auto later = std::ranges::find_if(ready_, [&](const Flight& f) { return f.ready > to; });
  for (auto flight = ready_.begin(); flight != later; ++flight) {
    start(*flight);
    const Cycle done = flight->under_way->tiles.front().done;
    const auto place = std::ranges::find_if(under_way_, [done](const Flight& other) {
      return other.under_way->tiles.front().done > done;
    });
    under_way_.insert(place, std::move(*flight));
  }
  ready_.erase(ready_.begin(), later);
  std::vector<Moved> all;
  while (!under_way_.empty() && under_way_.front().under_way->tiles.front().done <= to) {
    finish(under_way_.front());
    all.push_back(std::move(*under_way_.front().under_way));
    under_way_.pop_front();
  }
  return all;
}

/// Takes what tiles send. The link is free for what moves nothing.
void HostLink::start(Flight& flight) {
  const Stream& stream = *flight.stream;
  const bool outward = stream.host.transfer.direction == program::HostTransfer::Direction::write;
  Moved moved{.exchange = stream.host.exchange,
              .ready = flight.ready,
              .begin = flight.turn ? std::max(flight.ready, free_) : flight.ready,
              .participants = flight.participants,
              .tiles = {},
              .delivered = {},
              .multicast = {},
              .carrier = program::Carrier::host};
  for (const Participant& side : flight.participants) {
    const Bytes bytes(flight.turn ? bytes_of(stream, side.tile) : 0);
    moved.delivered += bytes;
    moved.tiles.push_back({{}, outward ? bytes : Bytes(0), outward ? Bytes(0) : bytes, 0});
  }
  const Cycle done =
      flight.turn ? moved.begin + host_transfer_cycles(machine_, moved.delivered) : moved.begin;
  for (fabric::Delivery& each : moved.tiles) each.done = done;
  if (flight.turn) free_ = done;
  flight.under_way = std::move(moved);
  if (!outward || !flight.turn) return;
  // In the order of the pieces: each tile's follow one another in its list.
  std::map<TileId, std::vector<std::byte>> of_tile;
  for (const Participant& side : flight.participants) {
    std::vector<std::byte>& bytes = of_tile[side.tile];
    for_entries(side, [&](std::span<std::byte> sram, std::size_t) {
      bytes.insert(bytes.end(), sram.begin(), sram.end());
    });
  }
  std::map<TileId, std::size_t> taken;
  for (std::size_t i = 0; i < stream.host.tiles.size(); ++i) {
    const TileId tile = stream.host.tiles[i];
    const std::uint32_t bytes = stream.host.transfer.pieces[i].bytes;
    const auto from = of_tile[tile].begin() + static_cast<std::ptrdiff_t>(taken[tile]);
    flight.sent.insert(flight.sent.end(), from, from + bytes);
    taken[tile] += bytes;
  }
}

/// What tiles receive is written, what they sent is the host's.
void HostLink::finish(Flight& flight) {
  const Stream& stream = *flight.stream;
  moved_ += flight.under_way->delivered;
  if (!flight.turn) return;
  if (stream.host.transfer.direction == program::HostTransfer::Direction::write) {
    std::vector<std::byte>& all = written_[stream.host.name];
    all.insert(all.end(), flight.sent.begin(), flight.sent.end());
    return;
  }
  for (const Participant& side : flight.participants) {
    std::vector<std::byte> bytes;
    for (const std::size_t i : stream.pieces.at(side.tile)) {
      const program::HostPiece& piece = stream.host.transfer.pieces[i];
      bytes.resize(bytes.size() + piece.bytes);
      piece.contents(std::span(bytes).last(piece.bytes), *flight.turn);
    }
    for_entries(side, [&](std::span<std::byte> sram, std::size_t at) {
      std::ranges::copy(std::span(bytes).subspan(at, sram.size()), sram.begin());
    });
  }
}

std::string HostLink::missing(fabric::Token side) const {
  for (const auto& [exchange, stream] : streams_) {
    const bool its = std::ranges::any_of(stream.started, [&](const Participant& started) {
      return started.tile == side.tile && started.list == side.list;
    });
    if (its)
      return fmt::format("transfer {} with the host, waiting for {} of {} tiles", stream.host.name,
                         stream.pieces.size() - stream.started.size(), stream.pieces.size());
  }
  return "a transfer with the host";
}

std::vector<trace::Transfer> HostLink::transfers(const Moved& moved) const {
  std::vector<trace::Transfer> all;
  for (std::size_t i = 0; i < moved.participants.size(); ++i) {
    const TileId tile = moved.participants[i].tile;
    const fabric::Delivery& each = moved.tiles[i];
    const Bytes bytes = each.sent + each.received;
    if (bytes > Bytes(0)) all.push_back({tile, tile, moved.begin, each.done, bytes});
  }
  return all;
}

std::span<const std::byte> HostLink::written(std::string_view transfer) const {
  const auto found = written_.find(transfer);
  return found == written_.end() ? std::span<const std::byte>{} : found->second;
}

}  // namespace tessera
