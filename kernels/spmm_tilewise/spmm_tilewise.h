#pragma once

#include <memory>
#include <optional>
#include <string>

#include "kernels/spmm_tilewise/pattern.h"
#include "kernels/spmm_tilewise/plan.h"
#include "sim/data/dense_operand.h"

/// The workload `spmm_tilewise`: C[m, n] = A[m, k] W[k, n] with a tile-wise pruned W.
namespace tessera::spmm_tilewise {

struct Options {
  std::uint32_t m = 1024;
  WeightOptions weights;
  std::optional<program::Type> partials;  ///< none: chosen
  std::string a;                          ///< .npy file; empty: seeded
  Pinned plan;
};
void describe(config::Fields& fields, Pinned& plan);
void describe(config::Fields& fields, Options& options);

/// Problem, pattern, plan and everything derived from them, fixed at construction.
class SpmmTilewise : public Workload {
 public:
  /// Throws UserError if a file cannot be read or no plan fits.
  SpmmTilewise(Options options, MachineCosts& costs);

  [[nodiscard]] program::Program lowered() const override;
  [[nodiscard]] CheckResult check(const TensorReader& tensors,
                                  const CheckRequest& request) const override;

  [[nodiscard]] const TilePattern& pattern() const { return pattern_; }
  [[nodiscard]] const Plan& chosen_plan() const { return *plan_; }

 private:
  Options options_;
  MachineConfig machine_;
  DenseWeights w_;  ///< after planning, what is left of it
  TilePattern pattern_;
  std::shared_ptr<const Plan> plan_;
  Problem problem_;
  data::DenseOperand a_;
};

}  // namespace tessera::spmm_tilewise
