#include "models/costs/measured_costs.h"

#include "models/fabric/fabric.h"

namespace tessera {

MeasuredCosts::MeasuredCosts(const MachineConfig& machine) : machine_(machine), sampler_(machine) {}

TileCost MeasuredCosts::tile(const program::Program& sample) { return sampler_.run(sample); }

std::uint64_t MeasuredCosts::exchange(const ExchangeLoad& load) const {
  return fabric::estimate(machine_.fabric, load).count();
}

program::Images MeasuredCosts::compile(const program::Program& program) const {
  return program::compile(program, machine_, *fabric::make_exchange_compiler(machine_.fabric));
}

}  // namespace tessera
