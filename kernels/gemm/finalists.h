#pragma once

#include <vector>

#include "kernels/gemm/plan.h"

namespace tessera::gemm {

/// The best plans of a search by estimate, of which the best in fact is chosen: exchanges in which
/// many short multicasts meet at the ports take up to 1.4 times what is estimated.
class Finalists {
 public:
  [[nodiscard]] bool empty() const { return plans_.empty(); }
  /// Whether a plan of so many predicted cycles would be one of them.
  [[nodiscard]] bool take(std::uint64_t cycles) const;
  void add(const Candidate& candidate);
  /// The plan of least cycles, its exchanges scheduled and its memory placed where that is done in
  /// short time. Not for no plans.
  [[nodiscard]] Candidate best(const Problem& problem, const MachineCosts& costs) const;

 private:
  std::vector<Candidate> plans_;  ///< by predicted cycles
};

/// With the exchanges of the program scheduled and its memory placed, if that is done in short time
/// (in layout natural rows are many copies). Throws UserError if it does not fit.
Candidate compiled(const Candidate& candidate, const Problem& problem, const MachineCosts& costs);

}  // namespace tessera::gemm
