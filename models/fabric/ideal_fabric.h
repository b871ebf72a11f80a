#pragma once

#include "models/fabric/exchange_fabric.h"

namespace tessera::fabric {

/// An exchange of unlimited bandwidth, for what-ifs: every byte moves at once.
/// Leaves out: rates, ports, distance; so exchanges in flight together do not interact.
/// Timing: every tile is done at (start of the last participant) + fixed_cycles.
class IdealFabric : public ExchangeFabric {
 public:
  IdealFabric(const FabricConfig& config, const Floorplan& floorplan)
      : ExchangeFabric(floorplan), fixed_(config.fixed_cycles) {}

  static Cycle estimate(const FabricConfig& config, const ExchangeLoad& /*load*/) {
    return Cycle(config.fixed_cycles);
  }

 private:
  void set_times(Moved& moved, HostThreads& /*threads*/) override {
    for (Delivery& delivery : moved.tiles) delivery.done = moved.begin + fixed_;
  }
  [[nodiscard]] Passage passage(Cycle begin, const Header& /*header*/,
                                const ReceiveDescriptor& /*receive*/,
                                TileId /*to*/) const override {
    return {begin, begin + fixed_};
  }

  Cycle fixed_;
};

}  // namespace tessera::fabric
