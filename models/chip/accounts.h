#pragma once

#include <cstdint>
#include <vector>

#include "models/chip/recordings.h"
#include "models/chip/time_accounting.h"
#include "sim/program/image.h"

namespace tessera {

/// The records of a run: a time accounting for each zone, and the requested recordings of tiles.
/// The machine takes from it only which supersteps are measured.
class Accounts {
 public:
  Accounts(const program::Images& images, bool measure_host, const Recordings::Config& recordings);

  /// Records that tiles of `group.zone` have arrived at their barrier or have ended.
  void arrive(const ArrivalGroup& group) { accounting_[group.zone].arrive(group); }
  /// Records a finished transfer, in the zone of its first participant.
  void moved(const fabric::Fabric& fabric, const fabric::Moved& moved) {
    TimeAccounting& accounting = accounting_[zone_of(moved.participants.front().tile)];
    switch (moved.carrier) {
      case program::Carrier::fabric:
        accounting.deliver(moved.exchange, moved.delivered, moved.multicast);
        break;
      case program::Carrier::memory:
        accounting.deliver_outside(moved.exchange, moved.tiles.front().received,
                                   moved.tiles.front().sent);
        break;
      case program::Carrier::host:
        accounting.deliver_host(moved.exchange, measure_host_ ? moved.delivered : Bytes(0));
    }
    recordings_.moved(fabric, moved);
  }
  /// Ends the superstep of a zone (see TimeAccounting::close); true if it is measured. `tiles`: all
  /// of the machine's.
  bool close(std::uint32_t zone, const std::vector<Tile>& tiles, Cycle release);
  /// Latest end of any finished superstep.
  [[nodiscard]] Cycle end() const;
  /// Restarts all zones at end().
  void begin_again();

  /// Start of the zone's open superstep.
  [[nodiscard]] Cycle start(std::uint32_t zone) const { return accounting_[zone].start(); }
  [[nodiscard]] const std::vector<program::StepInfo>& steps() const { return steps_; }
  [[nodiscard]] std::uint32_t zone_of(TileId tile) const { return zone_of_[index(tile)]; }
  [[nodiscard]] const std::vector<std::vector<TileId>>& zones() const { return zones_; }
  [[nodiscard]] std::uint64_t supersteps() const;
  [[nodiscard]] Recordings& recordings() { return recordings_; }

  /// The measured totals; the caller adds the tiles' own records.
  [[nodiscard]] RunResult totals() const;

 private:
  [[nodiscard]] TimeParts time() const;

  bool measure_host_;
  std::vector<program::StepInfo> steps_;
  std::vector<std::vector<TileId>> zones_;
  std::vector<std::uint32_t> zone_of_;      ///< by tile
  std::vector<TimeAccounting> accounting_;  ///< by zone
  std::vector<SuperstepRecord> records_;
  Recordings recordings_;
};

}  // namespace tessera
