#pragma once

#include "models/fabric/fabric.h"
#include "models/fabric/mover.h"
#include "models/fabric/ports.h"

namespace tessera::fabric {

/// The all-to-all exchange of a machine whose compiler fixes every start cycle: no headers, no
/// queues, no arbitration; multicast costs nothing beyond one send.
/// Leaves out: port conflicts (the compiler excludes them, see verify.h), SRAM bank conflicts.
/// Timing: a tile is done at (start of the last participant) + fixed_cycles + the end of its last
/// descriptor; a stream is at a receiver cycles_per_hop x the columns and rows to it after it is
/// sent.
/// Source: machines.md 1.4 (100 cycles + bytes / 4); US11023413.
class ScheduledFabric : public Fabric {
 public:
  ScheduledFabric(const FabricConfig& config, const Floorplan& floorplan);
  Outcome exchange(std::span<const Participant> participants, HostThreads& threads) override;
  [[nodiscard]] std::vector<trace::Transfer> transfers(
      std::span<const Participant> participants) const override;

  static Cycle estimate(const FabricConfig& config, const ExchangeLoad& load);

 private:
  /// Cycles from the begin of the exchange's data to the end of one participant's.
  [[nodiscard]] std::uint64_t duration(const Participant& participant) const;

  FabricConfig config_;
  Mover mover_;
};

}  // namespace tessera::fabric
