#pragma once

#include <cstdint>
#include <memory>

#include "sim/base/types.h"
#include "sim/machine/machine_config.h"

namespace tessera {

/// How a worker's issue slots become cycles of its tile.
/// Leaves out: workers of a barrel drifting against each other (published steps for N mod 6 are
/// +9 and +12 cycles instead of +24).
/// Timing: a worker that started at t and used s slots ends at t + cycles(s).
class Issue {
 public:
  virtual ~Issue() = default;
  [[nodiscard]] virtual Cycle cycles(std::uint64_t slots) const = 0;
  /// How many slots surely pass within `limit`, for stopping endless workers.
  [[nodiscard]] virtual std::uint64_t slots_within(Cycle limit) const = 0;
};

/// Contexts take turns: each has one slot every `contexts` cycles, which hides memory latency.
class BarrelIssue final : public Issue {
 public:
  explicit BarrelIssue(std::uint32_t contexts) : contexts_(contexts) {}
  [[nodiscard]] Cycle cycles(std::uint64_t slots) const override {
    return Cycle(slots * contexts_);
  }
  [[nodiscard]] std::uint64_t slots_within(Cycle limit) const override {
    return limit.count() / contexts_ + 1;
  }

 private:
  std::uint32_t contexts_;
};

/// One context that has every cycle.
class SingleIssue final : public Issue {
 public:
  [[nodiscard]] Cycle cycles(std::uint64_t slots) const override { return Cycle(slots); }
  [[nodiscard]] std::uint64_t slots_within(Cycle limit) const override { return limit.count() + 1; }
};

/// The variant that `tile.issue` names. Throws UserError for an unknown name, or for `single` with
/// more than one context.
std::unique_ptr<const Issue> make_issue(const TileConfig& tile);

}  // namespace tessera
