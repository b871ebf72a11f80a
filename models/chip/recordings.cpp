#include "models/chip/recordings.h"

namespace tessera {
namespace {

/// The trace's value for a wait reason.
trace::TileLog::Then then_of(WaitReason::Kind kind) {
  using Then = trace::TileLog::Then;
  switch (kind) {
    case WaitReason::Kind::sync:
      return Then::sync;
    case WaitReason::Kind::transfer:
      return Then::wait;
    case WaitReason::Kind::horizon:
    case WaitReason::Kind::limit:
      return Then::compute;
    case WaitReason::Kind::done:
      break;
  }
  return Then::ended;
}

}  // namespace

Recordings::Recordings(const Config& config, std::uint32_t tiles)
    : trace_(config.trace), activity_(config.activity ? tiles : 0) {
  if (config.tile_steps > 0) steps_.emplace(tiles, config.tile_steps);
}

void Recordings::follow(Tile& tile) {
  if (trace_ != nullptr) tile.record(&trace_->log(tile.id()));
  if (!activity_.empty()) tile.record(&activity_[index(tile.id())]);
}

void Recordings::log_arrival(TileId tile, const WaitReason& reason) const {
  trace::TileLog& log = trace_->log(tile);
  log.arrived = reason.at;
  log.then = then_of(reason.kind);
}

void Recordings::moved(const fabric::Fabric& fabric, const fabric::Moved& moved) {
  for (std::size_t i = 0; i < moved.tiles.size(); ++i) {
    const fabric::Delivery& delivery = moved.tiles[i];
    if (!activity_.empty())
      activity_[index(moved.participants[i].tile)].open.byte_micrometres +=
          delivery.byte_micrometres;
    const Bytes bytes = moved.carrier == program::Carrier::fabric
                            ? delivery.received
                            : delivery.sent + delivery.received;
    if (trace_ == nullptr) continue;
    trace_->transfer(moved.begin, delivery.done, bytes, moved.carrier);
    if (moved.carrier != program::Carrier::fabric) trace_->finished(moved.participants[i].start);
  }
  if (trace_ != nullptr && trace_->wants_transfers()) trace_->exchanged(fabric.transfers(moved));
}

void Recordings::close(const std::vector<Tile>& tiles, std::span<const TileId> zone,
                       const SuperstepRecord& record, bool measured) {
  if (trace_ != nullptr) trace_->close(record, measured);
  if (!steps_) return;
  for (const TileId tile : zone) {
    const Arrival& last = tiles[index(tile)].arrival();
    if (last.at < record.start) continue;  // ended before
    const Cycle computing = last.at - record.start - last.span.exchange - last.span.wait;
    steps_->add(tile, computing, last.span.exchange, last.span.wait);
  }
  steps_->close(measured);
}

void Recordings::add_to(RunResult& result) const {
  for (const ActivityAccount& account : activity_) result.activity.push_back(account.measured);
  if (steps_) result.tile_steps = steps_->kept();
}

}  // namespace tessera
