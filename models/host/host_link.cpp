#include "models/host/host_link.h"

#include <algorithm>
#include <utility>

#include "sim/base/errors.h"

namespace tessera {

using fabric::Moved;
using fabric::Participant;
using program::HostEntry;
using program::HostList;
using Direction = program::HostTransfer::Direction;

namespace {

Cycle end_of(const Moved& moved) { return moved.tiles.front().done; }

}  // namespace

HostLink::HostLink(const MachineConfig& machine, const std::vector<program::HostStream>& streams,
                   bool measured)
    : machine_(machine), measured_(measured) {
  for (const program::HostStream& host : streams) {
    Stream& stream = streams_[host.exchange];
    stream.host = host;
    for (std::size_t i = 0; i < host.tiles.size(); ++i)
      stream.sizes[host.tiles[i]].push_back(host.transfer.pieces[i].bytes);
  }
}

void HostLink::begin() {
  for (auto& [exchange, stream] : streams_) {
    stream.before += std::exchange(stream.turns, 0);
    stream.starts = 0;
  }
}

fabric::Token HostLink::submit(const Participant& side) {
  const HostList list = program::read_host_list(side.tile, side.sram, side.list);
  const auto fail = [&](const std::string& problem) {
    throw UserError("tile {}: list of a transfer with the host at {:#x}: {}", index(side.tile),
                    side.list.count(), problem);
  };
  const auto found = streams_.find(list.header.exchange);
  if (found == streams_.end())
    fail(fmt::format("exchange {} is none with the host", list.header.exchange));
  Stream& stream = found->second;
  const auto sizes = stream.sizes.find(side.tile);
  if (sizes == stream.sizes.end() ||
      !std::ranges::equal(list.entries, sizes->second, {}, &HostEntry::bytes))
    fail("its entries are not of the sizes of the host's pieces");
  stream.started.push_back(side);
  if (stream.started.size() == stream.sizes.size()) join(stream, list.header.turns);
  return {side.tile, side.list};
}

/// Called when all tiles have started a turn.
void HostLink::join(Stream& stream, const program::Turns& turns) {
  Flight flight{&stream, {}, {}, {}};
  flight.moved.exchange = stream.host.exchange;
  flight.moved.carrier = program::Carrier::host;
  flight.moved.participants = std::exchange(stream.started, {});
  std::ranges::sort(flight.moved.participants, {}, &Participant::tile);
  for (const Participant& side : flight.moved.participants)
    flight.moved.ready = std::max(flight.moved.ready, side.start);
  if (const auto turn = program::turn_number(turns, stream.starts++)) {
    flight.turn = stream.before + *turn;
    stream.turns = std::max(stream.turns, *turn + 1);
  }
  ready_.push_back(std::move(flight));
}

std::optional<Cycle> HostLink::next_event() const {
  std::optional<Cycle> next;
  if (!under_way_.empty()) next = end_of(under_way_.front().moved);
  for (const Flight& flight : ready_)
    next = next ? std::min(*next, flight.moved.ready) : flight.moved.ready;
  return next;
}

std::vector<Moved> HostLink::advance(Cycle to, HostThreads& /*threads*/) {
  std::ranges::sort(ready_, {}, [](const Flight& flight) {
    return std::pair(flight.moved.ready, flight.moved.exchange);
  });
  const auto later =
      std::ranges::find_if(ready_, [&](const Flight& f) { return f.moved.ready > to; });
  for (auto flight = ready_.begin(); flight != later; ++flight) {
    start(*flight);
    const auto place =
        std::ranges::upper_bound(under_way_, end_of(flight->moved), {},
                                 [](const Flight& each) { return end_of(each.moved); });
    under_way_.insert(place, std::move(*flight));
  }
  ready_.erase(ready_.begin(), later);
  std::vector<Moved> all;
  while (!under_way_.empty() && end_of(under_way_.front().moved) <= to) {
    finish(under_way_.front());
    all.push_back(std::move(under_way_.front().moved));
    under_way_.pop_front();
  }
  return all;
}

/// Starts a transfer and reads the bytes that tiles send. One that moves nothing does not use the
/// link.
void HostLink::start(Flight& flight) {
  const Stream& stream = *flight.stream;
  const bool outward = stream.host.transfer.direction == Direction::write;
  Moved& moved = flight.moved;
  for (const Participant& side : moved.participants) {
    Bytes bytes;
    if (flight.turn)
      for (const std::uint32_t size : stream.sizes.at(side.tile)) bytes += Bytes(size);
    moved.delivered += bytes;
    moved.tiles.push_back({{}, outward ? bytes : Bytes(0), outward ? Bytes(0) : bytes, 0});
  }
  moved.begin = flight.turn ? std::max(moved.ready, free_) : moved.ready;
  Cycle done = moved.begin;
  if (flight.turn && measured_) free_ = done += host_transfer_cycles(machine_, moved.delivered);
  for (fabric::Delivery& each : moved.tiles) each.done = done;
  if (outward && flight.turn && values_)
    for_pieces(flight, [&](const program::HostPiece& /*piece*/, std::span<std::byte> bytes) {
      flight.sent.insert(flight.sent.end(), bytes.begin(), bytes.end());
    });
}

/// Ends a transfer: writes the bytes that tiles receive, or passes the sent bytes to the host.
void HostLink::finish(Flight& flight) {
  moved_ += flight.moved.delivered;
  if (!flight.turn || !values_) return;
  const program::HostStream& host = flight.stream->host;
  if (host.transfer.direction == Direction::read)
    return for_pieces(flight, [&](const program::HostPiece& piece, std::span<std::byte> bytes) {
      piece.contents(bytes, *flight.turn);
    });
  std::vector<std::byte>& all = written_[host.name];
  all.insert(all.end(), flight.sent.begin(), flight.sent.end());
}

/// Visits each piece with its bytes in SRAM, in order; a tile's list has its pieces in this order.
template <class Visit>
void HostLink::for_pieces(const Flight& flight, const Visit& visit) const {
  struct Side {
    std::span<std::byte> sram;
    std::vector<HostEntry> entries;
    std::size_t next = 0;
  };
  std::map<TileId, Side> sides;
  for (const Participant& side : flight.moved.participants)
    sides[side.tile] = {side.sram,
                        program::read_host_list(side.tile, side.sram, side.list).entries};
  const program::HostStream& host = flight.stream->host;
  for (std::size_t i = 0; i < host.tiles.size(); ++i) {
    Side& side = sides.at(host.tiles[i]);
    const HostEntry& entry = side.entries[side.next++];
    visit(host.transfer.pieces[i], side.sram.subspan(entry.address, entry.bytes));
  }
}

std::string HostLink::missing(fabric::Token side) const {
  for (const auto& [exchange, stream] : streams_) {
    const bool its = std::ranges::any_of(stream.started, [&](const Participant& started) {
      return started.tile == side.tile && started.list == side.list;
    });
    if (its)
      return fmt::format("transfer {} with the host, waiting for {} of {} tiles", stream.host.name,
                         stream.sizes.size() - stream.started.size(), stream.sizes.size());
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
