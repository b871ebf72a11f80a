#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "sim/engine/pipeline.h"

/// Pipeline states and memoised costs of stretches of a block, for a context with its own slots
/// whose results may still be pending when it enters.
namespace tessera::engine {

struct Edge;

/// The pending results and busy units when a context enters a block, relative to its next slot:
/// canonical, one object per value. Empty: nothing is pending.
struct PipelineState {
  struct Residual {
    std::uint8_t number;  ///< register as in Demand, or Scoreboard::kRegisters + unit
    Cause cause;
    std::uint32_t slots;
    auto operator<=>(const Residual&) const = default;
  };
  std::vector<Residual> residuals;  ///< ascending numbers
};

/// The cost and result of executing the stretch that an edge ends from a given pipeline state.
struct PipelineTransition {
  const PipelineState* from;
  const PipelineState* to;
  std::int64_t slots;       ///< slots to the next instruction's, including waits
  std::int64_t last_issue;  ///< slot in which the stretch's last instruction issues
  std::array<std::uint32_t, kCauses> waits;
  std::uint32_t apart;                          ///< pairs whose halves issue separately
  const PipelineTransition* next;               ///< next transition of the same edge
  mutable std::atomic<std::uint64_t> times{0};  ///< profiled codes: number of uses
};

/// A cache of all transitions met so far. Thread-safe; values depend only on the code.
class PipelineTransitions {
 public:
  /// `branch_latency`: of taken branches.
  PipelineTransitions(std::uint32_t distance, std::uint32_t branch_latency)
      : distance_(distance), branch_latency_(branch_latency) {}

  /// Looks in edge.transitions; computes and adds it if it is new.
  const PipelineTransition& find(const Edge& edge, const PipelineState* from);
  /// Calls visit(group, ready) for each group of the stretch, in order, as it issues after `from`.
  /// Returns the slots after a taken branch in which nothing issues.
  using Visit = std::function<void(std::span<const Demand>, const Scoreboard::Ready&)>;
  [[nodiscard]] std::uint64_t replay(const Edge& edge, const PipelineState* from,
                                     const Visit& visit) const;
  /// The pipeline state after `slots` slots without issue from `from`.
  const PipelineState* after(const PipelineState* from, std::uint64_t slots);

 private:
  const PipelineTransition& compute(const Edge& edge, const PipelineState* from);
  void pass(const Edge& edge, Scoreboard& board, UnitTimes& units, const Visit& visit) const;
  const PipelineState* intern(std::vector<PipelineState::Residual> residuals);

  std::uint32_t distance_;
  std::uint32_t branch_latency_;
  std::mutex mutex_;
  std::map<std::vector<PipelineState::Residual>, std::unique_ptr<PipelineState>> states_;
  std::vector<std::unique_ptr<PipelineTransition>> transitions_;
};

}  // namespace tessera::engine
