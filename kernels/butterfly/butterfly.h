#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/butterfly/reference.h"
#include "kernels/butterfly/statement.h"
#include "kernels/planned.h"

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

/// Everything that a program is described from; its functions keep it.
struct Subject {
  Options options;
  MachineConfig machine;
  std::vector<Problem> forms;  ///< the problem with all forms of its products, or the pinned ones
  Operands operands;
  Codes codes = {};

  Subject(const Options& given, const MachineConfig& on);
  [[nodiscard]] const Problem& problem() const { return options.problem; }
  /// With the form that the plan has.
  [[nodiscard]] Geometry geometry(const Plan& plan) const;
  /// No operand comes from a file.
  [[nodiscard]] bool seeded() const {
    return options.x.empty() && options.gradient.empty() && options.twiddles.empty();
  }
  /// Magnitudes of many products say little of their sum.
  [[nodiscard]] Roundings roundings() const {
    return problem().blocked() && seeded() ? Roundings::independent : Roundings::any;
  }
};

// The interface that kernels::PlannedWorkload calls.
std::string text(const Subject& subject);
plan::Described described(const std::shared_ptr<const Subject>& subject, const Plan& plan);
void add_plans(const std::shared_ptr<const Subject>& subject, kernels::Plans<Plan>& plans);
std::uint64_t least_bytes(const Subject& subject, const Plan& plan);
WorkloadSummary summary(const Subject& subject, const Plan& plan);
CheckResult checked(const Subject& subject, const Plan& plan, const TensorReader& tensors,
                    const CheckRequest& request);

/// Checks pass grad_twiddles.
CheckResult check_gradient(const Subject& subject, const Problem& p, const TensorReader& tensors,
                           const CheckRequest& request);

}  // namespace tessera::butterfly
