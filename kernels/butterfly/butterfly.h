#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/butterfly/reference.h"
#include "kernels/butterfly/statement.h"
#include "kernels/planned.h"

/// The workload `butterfly`: Y[features, n] = F_L ... F_1 X, or one of its gradients. The plan
/// gives the layout of X: in order of features, with packed columns. Twiddles are stored on every
/// tile that applies them; Y overwrites X, in the order that the swaps leave.
namespace tessera::butterfly {

struct Options {
  Problem problem;
  std::string x;         ///< .npy file; empty: seeded
  std::string gradient;  ///< .npy file of Yg; empty: seeded
  std::string twiddles;  ///< the same
  std::uint64_t seed = 1;
  std::optional<Plan> plan;  ///< pinned; none: searched
};
void describe(config::Fields& fields, Options& options);

/// Inputs of a program's description; its functions hold a reference to them.
struct Subject {
  Options options;
  MachineConfig machine;
  std::vector<Problem> forms;  ///< the problem, once for each form of its products (only the pinned
                               ///< form if there is one)
  Operands operands;
  Codes codes = {};

  Subject(const Options& given, const MachineConfig& on);
  [[nodiscard]] const Problem& problem() const { return options.problem; }
  /// Geometry with the plan's form.
  [[nodiscard]] Geometry geometry(const Plan& plan) const;
  /// True if no operand comes from a file.
  [[nodiscard]] bool seeded() const {
    return options.x.empty() && options.gradient.empty() && options.twiddles.empty();
  }
  /// How roundings add up: for blocks the magnitudes of many products say little of their sum.
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
