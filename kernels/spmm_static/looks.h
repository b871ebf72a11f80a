#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/sparse/published/policy.h"
#include "kernels/spmm_static/plan.h"

namespace tessera::spmm_static {

/// Looks at partitions: which fit, and what they take.
class Looks {
 public:
  Looks(const sparse::BlockMatrix& w, const sparse::Shape& shape, std::uint32_t n, Cost& cost,
        const Pinned& pinned, const Surroundings& around)
      : w_(w),
        n_(n),
        cost_(cost),
        pinned_(pinned),
        around_(around),
        policy_(cost.machine()),
        problem_(make_problem(w, shape, n)) {}

  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const Pinned& pinned() const { return pinned_; }
  [[nodiscard]] Cost& cost() const { return cost_; }
  [[nodiscard]] const sparse::published::Policy& policy() const { return policy_; }
  /// Bytes of a tile, without what others hold.
  [[nodiscard]] std::uint64_t room() const {
    const std::uint64_t capacity = std::uint64_t{cost_.machine().tile.sram_kib} * 1024;
    return capacity - std::min(capacity, around_.beside);
  }
  [[nodiscard]] bool any() const { return !plans_.empty(); }
  [[nodiscard]] const std::optional<Cuts>& best_cuts() const { return best_cuts_; }
  [[nodiscard]] const std::optional<Cuts>& closest() const { return closest_; }
  void set_closest(const std::optional<Cuts>& cuts) { closest_ = cuts; }

  [[nodiscard]] Partition partition(const Cuts& cuts) const;
  /// Keeps the partition if it fits and is one of the best that were seen, or `anyway`.
  void look(Partition partition, const Cuts& cuts, bool anyway = false);
  /// The best plan; throws UserError with what `budget` bytes, by whose word, leave no room for.
  Plan take(std::uint64_t budget, const char* whose);

 private:
  [[nodiscard]] std::size_t most_plans(const Partition& partition) const;
  [[nodiscard]] bool roomy(const Partition& partition) const;
  [[nodiscard]] Plan* scheduled();
  [[nodiscard]] std::optional<Plan> first_scheduled();
  [[nodiscard]] Plan chosen();

  const sparse::BlockMatrix& w_;
  std::uint32_t n_;
  Cost& cost_;
  const Pinned& pinned_;
  const Surroundings& around_;
  sparse::published::Policy policy_;
  Problem problem_;
  std::vector<Plan> plans_;  ///< of which the best is chosen, by predicted cycles
  std::vector<std::pair<std::uint64_t, Cuts>> fitting_;  ///< all, by estimate, and its cycles
  std::optional<Cuts> best_cuts_;
  std::optional<Cuts> closest_;  ///< what needs least, while nothing fits
  std::optional<Cuts> unnamed_;  ///< would fit, but for its work lists
};

}  // namespace tessera::spmm_static
