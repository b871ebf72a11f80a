#include <algorithm>

#include "models/chip/chip.h"
#include "sim/base/counted.h"
#include "sim/base/errors.h"

// Settles the arrivals of tiles that have run ahead.
namespace tessera {

/// Takes the batch's arrivals: what is said of a broken run must not depend on how it was cut.
void Chip::settle() {
  bool past_limit = false;
  bool exchanging = false;
  for (const Piece& piece : pieces_)
    for (const TileId tile : piece.apart) {
      exchanging |= settle_apart(tile);
      past_limit |= arrival(tile).kind == Standing::Kind::limit;
    }
  if (past_limit)
    throw stuck(fmt::format("tiles ran past the limit of {} (--max-cycles)",
                            counted(settings_.max_cycles.count(), "cycle")));
  for (const Piece& piece : pieces_) {
    if (piece.group.arrivals.tiles != 0) settle_sync(piece.group);
    for (const TileId tile : piece.apart) {
      if (arrival(tile).kind != Standing::Kind::sync) continue;
      ArrivalGroup alone;
      alone.add(tile, arrival(tile), ledger_.start());
      settle_sync(alone);
    }
  }
  if (exchanging) settle_exchanges();
}

/// True if the tile has started an exchange.
bool Chip::settle_apart(TileId tile) {
  const Arrival& last = arrival(tile);
  if (last.started_exchange)
    fabric_.exchanges.start({tile, last.list_start, sram_.tile(tile), Address(last.list)});
  if (last.kind == Standing::Kind::done) {
    ArrivalGroup alone;
    alone.add(tile, last, ledger_.start());
    ledger_.arrive(alone);
    if (++ended_ == tiles_.size()) end_program();
  }
  return last.started_exchange;
}

void Chip::settle_sync(const ArrivalGroup& group) {
  ZoneRelease& zone = zones_[group.zone];
  Barrier& barrier = sync_.barrier(group.zone);
  if (barrier.arrived() == 0) zone.sync_step = group.sync_step;
  if (zone.sync_step != group.sync_step) throw branched_apart(group.zone);
  ledger_.arrive(group);
  const auto release = barrier.arrive(group.arrivals);
  if (!release) return;
  const HostPort::Done done = transfer_with_host();
  zone.pending = true;
  zone.at = release->at + done.cycles;
  zone.measured = close_superstep(zone.at, done);
  notify_at(sync_.released(group.zone), zone.at);
}

/// Where the superstep that ends is a transfer: every tile has arrived, and none goes on before it.
HostPort::Done Chip::transfer_with_host() {
  const std::uint32_t step = ledger_.step();
  if (step >= steps_.size() || steps_[step].transfer == nullptr) return {};
  check(host.size() == 1, "chip: {} without a host", steps_[step].name);
  return host->transfer(step);
}

void Chip::settle_exchanges() {
  for (const Exchanges::Finished& finished : fabric_.exchanges.finish(threads_)) {
    std::vector<TileId> waiting;
    Cycle first = Cycle(UINT64_MAX);
    for (std::size_t i = 0; i < finished.participants.size(); ++i) {
      const TileId tile = finished.participants[i].tile;
      const fabric::Delivery& delivery = finished.outcome.tiles[i];
      tiles_[index(tile)].complete_exchange(finished.begin, delivery.done, delivery.sent,
                                            delivery.received);
      recordings_.delivered(tile, finished.begin, delivery);
      if (arrival(tile).kind != Standing::Kind::exchange_wait) continue;
      waiting.push_back(tile);
      first = std::min(first, std::max(delivery.done, arrival(tile).at));
    }
    recordings_.finished(fabric_.exchanges, finished);
    ledger_.deliver(finished.outcome.delivered, finished.outcome.multicast);
    if (!waiting.empty()) fabric_.waiting.emplace(first, std::move(waiting));
  }
  if (!fabric_.waiting.empty()) notify_at(fabric_.done, fabric_.waiting.begin()->first);
}

/// True if the superstep counts.
bool Chip::close_superstep(Cycle at, HostPort::Done done) {
  const bool measured = ledger_.close(at, {done.cycles, done.bytes});
  recordings_.close(tiles_, ledger_.closed(), measured);
  return measured;
}

void Chip::end_program() {
  Cycle end;
  for (const Tile& tile : tiles_) end = std::max(end, tile.arrival().at);
  const bool measured = close_superstep(end);
  for (Tile& tile : tiles_) tile.finish(measured);
  notify_at(ended_event_, end);
}

}  // namespace tessera
