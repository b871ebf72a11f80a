#pragma once

#include <memory>

#include "sim/program/machine_costs.h"
#include "sim/program/workload.h"

/// Minimal machines and workloads for tests of the choice among plans.
namespace tessera::test {

/// Costs that answer only how many tiles and workers a program uses.
class SizedCosts final : public MachineCosts {
 public:
  explicit SizedCosts(const MachineConfig& machine, bool compete = true)
      : machine_(machine), compete_(compete) {}

  [[nodiscard]] const MachineConfig& machine() const override { return machine_; }
  [[nodiscard]] std::unique_ptr<MachineCosts> with_workers(std::uint32_t workers) const override {
    MachineConfig machine = machine_;
    machine.tile.contexts = workers;
    return compete_ ? std::make_unique<SizedCosts>(machine) : nullptr;
  }
  [[nodiscard]] std::unique_ptr<MachineCosts> with_tiles(std::uint32_t tiles) const override {
    MachineConfig machine = machine_;
    machine.tiles = tiles;
    return std::make_unique<SizedCosts>(machine);
  }
  [[nodiscard]] TileCost tile(const program::Program& /*sample*/) override { return {}; }
  [[nodiscard]] std::uint64_t exchange(const ExchangeLoad& /*load*/) const override { return 0; }
  [[nodiscard]] std::optional<program::ResourceUsage> watched_usage(
      const program::Program& /*program*/, const program::Watch& /*watch*/) const override {
    return program::ResourceUsage();
  }
  [[nodiscard]] std::uint64_t barrier() const override { return 0; }

 private:
  MachineConfig machine_;
  bool compete_;
};

class PlannedWorkload final : public Workload {
 public:
  PlannedWorkload(const Prediction& prediction, std::uint64_t flops) {
    summarise({.prediction = prediction, .useful_flops = flops});
  }
  [[nodiscard]] program::Program lowered() const override { return program::Program(1); }
  [[nodiscard]] CheckResult check(const TensorReader&, const CheckRequest&) const override {
    return {};
  }
};

}  // namespace tessera::test
