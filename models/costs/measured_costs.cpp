#include "models/costs/measured_costs.h"

#include "models/fabric/fabric.h"

namespace tessera {

MeasuredCosts::MeasuredCosts(const MachineConfig& machine) : machine_(machine), sampler_(machine) {}

TileCost MeasuredCosts::tile(const program::Program& sample) { return sampler_.run(sample); }

std::uint64_t MeasuredCosts::exchange(const ExchangeLoad& load) const {
  return fabric::estimate(machine_.fabric, load).count();
}

}  // namespace tessera
