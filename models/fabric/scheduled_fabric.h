#pragma once

#include <vector>

#include "models/fabric/exchange_fabric.h"
#include "models/fabric/ports.h"

namespace tessera::fabric {

/// The all-to-all exchange of a machine whose compiler fixes every start cycle: no headers, no
/// queues, no arbitration; multicast costs nothing beyond one send.
/// Leaves out: port conflicts within an exchange (the compiler excludes them, see verify.h), SRAM
/// bank conflicts.
/// Timing: an exchange begins when its last participant has started and every participant's
/// earlier exchange is done, since a schedule occupies a tile's ports from the fixed cost to its
/// last descriptor; a tile is done at begin + fixed_cycles + the end of its last descriptor; a
/// stream arrives at a receiver cycles_per_hop x (columns + rows to it) after it is sent.
/// Source: machines.md 1.4 (100 cycles + bytes / 4); US11023413. That silicon runs one exchange at
/// a time; overlap is our extension.
class ScheduledFabric : public ExchangeFabric {
 public:
  ScheduledFabric(const FabricConfig& config, const Floorplan& floorplan)
      : ExchangeFabric(floorplan), config_(config) {}

  static Cycle estimate(const FabricConfig& config, const ExchangeLoad& load);

 private:
  void set_times(Moved& moved, HostThreads& threads) override;
  [[nodiscard]] Passage passage(Cycle begin, const Header& header, const ReceiveDescriptor& receive,
                                TileId to) const override;
  /// Cycles from the start of the exchange's data to the end of one participant's.
  [[nodiscard]] std::uint64_t duration(const Participant& participant) const;

  FabricConfig config_;
  std::vector<Cycle> free_;  ///< by tile: when its last exchange is done
};

}  // namespace tessera::fabric
