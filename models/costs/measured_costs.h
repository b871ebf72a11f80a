#pragma once

#include "models/costs/tile_sampler.h"
#include "sim/program/machine_costs.h"

namespace tessera {

/// What a machine costs, asked of its own models: code is run on a tile, exchanges are estimated by
/// the fabric that would carry them.
class MeasuredCosts final : public MachineCosts {
 public:
  /// Throws UserError for a machine that cannot be built.
  explicit MeasuredCosts(const MachineConfig& machine);

  [[nodiscard]] const MachineConfig& machine() const override { return machine_; }
  [[nodiscard]] TileCost tile(const program::Program& sample) override;
  [[nodiscard]] std::uint64_t exchange(const ExchangeLoad& load) const override;
  [[nodiscard]] program::Images compile(const program::Program& program) const override;
  [[nodiscard]] std::uint64_t barrier() const override { return machine_.sync.chip_cycles; }

 private:
  MachineConfig machine_;
  TileSampler sampler_;
};

}  // namespace tessera
