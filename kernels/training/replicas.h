#pragma once

#include "kernels/training/parameters.h"
#include "sim/program/machine_costs.h"

/// Copies of what is trained on groups of tiles, each with its part of a batch (plan::Copies): what
/// they tell each other. Steps are of all tiles.
namespace tessera::training {

/// What a machine of which only tiles 0 to `tiles` - 1 are used says of costs. `costs` outlives it.
class GroupCosts final : public MachineCosts {
 public:
  GroupCosts(MachineCosts& costs, std::uint32_t tiles);
  [[nodiscard]] const MachineConfig& machine() const override { return machine_; }
  [[nodiscard]] TileCost tile(const program::Program& sample) override {
    return costs_.tile(sample);
  }
  [[nodiscard]] std::uint64_t exchange(const ExchangeLoad& load) const override {
    return costs_.exchange(load);
  }
  [[nodiscard]] program::Needs needs(const program::Program& program) const override;
  [[nodiscard]] std::uint64_t barrier() const override { return costs_.barrier(); }

 private:
  MachineCosts& costs_;
  MachineConfig machine_;
};

/// States that each copy sums the gradients of its shares, its own first and then the others' in
/// order (reduce-scatter). What a copy's tiles add up among themselves they have done.
void add_sums(Statement& statement, const std::vector<Parameters>& parameters);
/// States that all copies take the weights of all shares (all-gather).
void add_weights(Statement& statement, const std::vector<Parameters>& parameters);
/// States that the copies' losses are added up, as cross_entropy() gives them: on tile 0.
BufferId add_totals(Statement& statement, BufferId totals, plan::Copies copies);

}  // namespace tessera::training
