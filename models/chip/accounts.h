#pragma once

#include <cstdint>
#include <vector>

#include "models/chip/ledger.h"
#include "models/chip/recordings.h"
#include "sim/program/image.h"

namespace tessera {

/// The records of a run: a ledger for each zone, and the recordings of tiles that were asked for.
/// The machine depends on them only for which supersteps are measured.
class Accounts {
 public:
  Accounts(const program::Images& images, bool measure_host, const Recordings::Config& recordings);

  /// Tiles of `group.zone` have arrived at their barrier, or have ended.
  void arrive(const ArrivalGroup& group) { ledgers_[group.zone].arrive(group); }
  /// Bytes have moved; they count in the zone of the first tile that took part.
  void moved(const fabric::Fabric& fabric, const fabric::Moved& moved) {
    Ledger& ledger = ledgers_[zone_of(moved.participants.front().tile)];
    switch (moved.carrier) {
      case program::Carrier::fabric:
        ledger.deliver(moved.exchange, moved.delivered, moved.multicast);
        break;
      case program::Carrier::memory:
        ledger.deliver_outside(moved.exchange, moved.tiles.front().received,
                               moved.tiles.front().sent);
        break;
      case program::Carrier::host:
        ledger.deliver_host(moved.exchange, measure_host_ ? moved.delivered : Bytes(0));
    }
    recordings_.moved(fabric, moved);
  }
  /// Ends the superstep of a zone, as Ledger::close; true if it counts. `tiles`: of the machine.
  bool close(std::uint32_t zone, const std::vector<Tile>& tiles, Cycle release);
  /// The end of the last superstep of all that have ended.
  [[nodiscard]] Cycle end() const;
  /// All zones begin again at end().
  void begin_again();

  /// When the superstep of the zone that is open began.
  [[nodiscard]] Cycle start(std::uint32_t zone) const { return ledgers_[zone].start(); }
  [[nodiscard]] const std::vector<program::StepInfo>& steps() const { return steps_; }
  [[nodiscard]] std::uint32_t zone_of(TileId tile) const { return zone_of_[index(tile)]; }
  [[nodiscard]] const std::vector<std::vector<TileId>>& zones() const { return zones_; }
  [[nodiscard]] std::uint64_t supersteps() const;
  [[nodiscard]] Recordings& recordings() { return recordings_; }

  /// The measurements; the caller adds the tiles' own records.
  [[nodiscard]] RunResult totals() const;

 private:
  [[nodiscard]] TimeParts time() const;

  bool measure_host_;
  std::vector<program::StepInfo> steps_;
  std::vector<std::vector<TileId>> zones_;
  std::vector<std::uint32_t> zone_of_;  ///< by tile
  std::vector<Ledger> ledgers_;         ///< by zone
  std::vector<SuperstepRecord> records_;
  Recordings recordings_;
};

}  // namespace tessera
