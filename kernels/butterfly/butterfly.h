#pragma once

#include <optional>
#include <string>

#include "kernels/butterfly/reference.h"
#include "kernels/butterfly/statement.h"
#include "sim/base/parallel.h"

/// The workload `butterfly`: Y[features, n] = F_L ... F_1 X, or one of its gradients. X lies on the
/// tiles as the plan has it, feature after feature, columns packed; twiddles on every tile that
/// applies them; Y takes the place of X, in the order that the swaps leave.
namespace tessera::butterfly {

struct Options {
  Problem problem;
  std::string x;         ///< .npy file; empty: seeded
  std::string gradient;  ///< the same, of Yg
  std::string twiddles;  ///< the same
  std::uint64_t seed = 1;
  std::optional<Plan> plan;  ///< pinned; none: searched
};
void describe(config::Fields& fields, Options& options);

class Butterfly : public Workload {
 public:
  Butterfly(const Options& options, MachineCosts& costs);

  /// That the planner expects of the fullest tile.
  [[nodiscard]] std::uint64_t tile_bytes() const { return chosen_.tile_bytes; }
  [[nodiscard]] program::Program lowered() const override;
  [[nodiscard]] CheckResult check(const TensorReader& tensors,
                                  const CheckRequest& request) const override;

 private:
  /// No operand comes from a file.
  [[nodiscard]] bool seeded() const;
  [[nodiscard]] Roundings roundings() const;
  [[nodiscard]] CheckResult check_product(const TensorReader& tensors,
                                          const CheckRequest& request) const;
  [[nodiscard]] CheckResult check_gradient(const TensorReader& tensors,
                                           const CheckRequest& request) const;

  Options options_;
  MachineConfig machine_;
  Candidate chosen_;  ///< with the form of options_.problem
  Geometry geometry_;
  Operands operands_;
};

}  // namespace tessera::butterfly
