#pragma once

#include "kernels/training/assembly.h"
#include "kernels/training/parameters.h"
#include "sim/program/machine_costs.h"

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

/// Copies of a network on groups of tiles, one group behind the other, each with its part of a
/// batch: a program for the first group becomes one in which all groups do the same together.
class Replicas {
 public:
  /// `program` is done but for what copies tell each other and the host, and outlives it.
  Replicas(program::Program& program, std::uint32_t tiles, std::uint32_t copies);

  /// What a buffer of a further copy holds before the run, if not what the first one's does: else
  /// none.
  using Contents =
      std::function<std::function<void(std::span<std::byte>)>(BufferId first, std::uint32_t copy)>;
  /// The n-th transfer from the host to a copy is that of number n * copies + copy to one alone.
  void replicate(const Contents& contents);

  /// What a further copy's buffer holds before the run if the first one's holds masters of its
  /// share; else none.
  [[nodiscard]] std::function<void(std::span<std::byte>)> masters(
      const std::vector<Stretch>& stretches, BufferId first, std::uint32_t copy) const;
  /// The share of each stretch that each copy updates.
  [[nodiscard]] std::vector<Stretch> shares(const std::vector<Stretch>& stretches) const;
  /// Where the masters of a stretch lie, by parameter: with the copies that update them.
  [[nodiscard]] std::vector<Place> master_places(const Stretch& stretch) const;
  /// Adds steps in which each copy sums the gradients of its shares, its own first and then the
  /// others' in order (reduce-scatter). What a copy's tiles add up among themselves they have done.
  void add_sums(Assembly& assembly, const std::vector<Stretch>& stretches) const;
  /// Adds a step in which all copies take the weights of all shares (all-gather).
  void add_weights(Assembly& assembly, const std::vector<Stretch>& stretches) const;
  /// The buffers of all copies' tiles, of those of the first copy's: as many as it has tiles.
  [[nodiscard]] std::vector<BufferId> all(const std::vector<BufferId>& first) const;
  /// Steps that add up the copies' losses, as cross_entropy() gives them: where the sum is.
  BufferId add_totals(Assembly& assembly, BufferId totals) const;

 private:
  [[nodiscard]] BufferId of(BufferId first, std::uint32_t copy) const {
    return BufferId(static_cast<std::uint32_t>(first) + copy * buffers_);
  }
  [[nodiscard]] Place of(Place first, std::uint32_t copy) const {
    return {of(first.buffer, copy), first.offset};
  }
  void replicate(program::Sequence& sequence) const;
  void replicate(program::ComputeSet& set) const;
  void replicate(program::Exchange& exchange) const;
  void replicate(program::HostTransfer& transfer) const;

  program::Program& program_;
  std::uint32_t tiles_;
  std::uint32_t copies_;
  std::uint32_t buffers_;  ///< of one copy
};

}  // namespace tessera::training
