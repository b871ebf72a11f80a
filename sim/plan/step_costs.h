#pragma once

#include <functional>
#include <optional>

#include "sim/program/machine_costs.h"
#include "sim/program/workload.h"

namespace tessera {

/// Sums the costs of supersteps: a barrier, an exchange, vertices on the slowest tile, and the
/// control code around them. Leaves out: overlap of one tile's waits with another's.
class StepCosts {
 public:
  explicit StepCosts(MachineCosts& costs);

  [[nodiscard]] const MachineConfig& machine() const { return costs_.machine(); }

  /// Cycles of a vertex with the code that calls it. `make` adds its buffers to a one-tile program.
  [[nodiscard]] std::uint64_t vertex(
      const std::function<program::Vertex(program::Program&)>& make) const;
  /// As above, for several vertices of one tile.
  [[nodiscard]] std::uint64_t vertices(
      const std::function<std::vector<program::Vertex>(program::Program&)>& make) const;

  struct Superstep {
    std::optional<ExchangeLoad> exchange;
    std::uint64_t vertex_cycles = 0;
    std::optional<std::uint64_t> scheduled = {};  ///< its makespan; none: estimated from the load
    /// Cycles in which bytes move.
    [[nodiscard]] std::uint64_t moving(const MachineCosts& costs) const {
      if (!scheduled) return exchange ? costs.exchange(*exchange) : 0;
      return exchange || *scheduled > 0 ? costs.exchange({}) + *scheduled : 0;
    }
  };
  void add(Prediction& sum, const Superstep& step, std::uint64_t times = 1) const {
    add(sum, step, times, sum.cycles == 0);
  }
  /// `begins`: the step begins the measured region.
  void add(Prediction& sum, const Superstep& step, std::uint64_t times, bool begins) const;
  /// Adds the barrier that ends a measured region. The barrier that begins it is outside; a region
  /// that begins with starts of transfers, which have no barrier, has one more inside.
  void add_end(Prediction& sum) const;
  /// As add(), for a superstep that follows a transfer wait without a barrier.
  void add_behind_wait(Prediction& sum, std::uint64_t vertex_cycles, std::uint64_t times) const;
  /// A superstep that waits for the host.
  void add_host_wait(Prediction& sum, std::uint64_t times) const {
    sum.host_sync_cycles += times * costs_.barrier();
  }
  /// Control code of an empty superstep.
  [[nodiscard]] std::uint64_t superstep_cycles() const { return superstep_; }
  /// Control code before the first barrier of a program that loads `lists` list addresses there.
  [[nodiscard]] std::uint64_t set_up_cycles(std::uint64_t lists) const {
    return set_up_ + lists * set_up_list_;
  }
  /// Control code that starts a transfer, or waits for it.
  [[nodiscard]] std::uint64_t transfer_cycles() const { return exchange_; }
  /// Adds a loop's cost without the supersteps of its test.
  void add_branch(Prediction& sum, std::uint64_t times) const;

 private:
  MachineCosts& costs_;
  std::uint64_t superstep_;  ///< control code of an empty superstep
  std::uint64_t branch_;     ///< control code of a loop that ends
  std::uint64_t exchange_;   ///< control code that starts an exchange and waits for it
  std::uint64_t ahead_;   ///< loads its list address before the barrier (unmeasured for the first)
  std::uint64_t set_up_;  ///< before an empty first superstep
  std::uint64_t set_up_list_;  ///< control code that loads a list address there
};

}  // namespace tessera
