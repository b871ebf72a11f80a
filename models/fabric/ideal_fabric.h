#pragma once

#include "models/fabric/fabric.h"
#include "models/fabric/mover.h"

namespace tessera::fabric {

/// An exchange of unlimited bandwidth, for what-ifs: every byte moves at once.
/// Leaves out: rates, ports, distance.
/// Timing: every tile is done at (start of the last participant) + fixed_cycles.
class IdealFabric : public Fabric {
 public:
  IdealFabric(const FabricConfig& config, const Floorplan& floorplan)
      : fixed_(config.fixed_cycles), mover_(floorplan) {}
  Outcome exchange(std::span<const Participant> participants, HostThreads& threads) override;
  [[nodiscard]] std::vector<trace::Transfer> transfers(
      std::span<const Participant> participants) const override;

  static Cycle estimate(const FabricConfig& config, const ExchangeLoad& /*load*/) {
    return Cycle(config.fixed_cycles);
  }

 private:
  Cycle fixed_;
  Mover mover_;
};

}  // namespace tessera::fabric
