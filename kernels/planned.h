#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/base/counted.h"
#include "sim/config/writers.h"
#include "sim/plan/lower.h"
#include "sim/plan/search.h"
#include "sim/program/image.h"
#include "sim/program/workload.h"

/// Plans that are compared by one search, or pinned: what kernels have in common there.
namespace tessera::kernels {

/// Says that no plan of `problem` (a kernel's name and its sizes) fits, with the memory of the
/// closest one and, if it can be shown, that plan.
inline std::string no_plan_fits(const std::string& problem, const config::Json& closest,
                                const program::CategoryBytes& need, const MachineConfig& machine) {
  const std::string plan = closest.is_null() ? "" : ", " + closest.dump();
  return program::overflow_message(fmt::format("no plan of {} fits {}; of the closest{}", problem,
                                               counted(machine.tiles, "tile"), plan),
                                   {&need, 1}, machine);
}

/// A plan and what its program is predicted to take.
template <class Plan>
struct Planned {
  Plan plan;
  Prediction prediction;
};

/// Plans as options of a search. `Described` is a plan's program with the tiles that differ: the
/// slowest and the fullest are among them.
template <class Plan>
class Plans {
 public:
  using Describe = std::function<plan::Described(const Plan&)>;
  /// Bytes of the fullest tile that a plan's program does not go below.
  using LeastBytes = std::function<std::uint64_t(const Plan&)>;

  /// `problem` as in no_plan_fits. What the functions refer to outlives this.
  Plans(std::string problem, plan::Pricing& pricing, Describe describe, LeastBytes least_bytes)
      : problem_(std::move(problem)),
        pricing_(pricing),
        describe_(std::move(describe)),
        least_bytes_(std::move(least_bytes)) {}

  /// No program of `plan` takes fewer cycles than `bound`, else the search may miss it.
  void add(Plan plan, std::uint64_t bound) {
    plans_.push_back(std::move(plan));
    bounds_.push_back(bound);
  }

  /// The plan of least predicted cycles. Throws UserError if none fits.
  [[nodiscard]] Planned<Plan> best() const {
    plan::Space space;
    space.bounds = bounds_;
    space.least_bytes = [this](std::size_t option) { return least_bytes_(plans_[option]); };
    space.describe = [this](std::size_t option, std::uint32_t /*variant*/) {
      return describe_(plans_[option]);
    };
    const plan::Found found = plan::search(space, pricing_);
    const Plan& plan = plans_[found.option];
    if (!found.fits)
      throw UserError(
          no_plan_fits(problem_, config::resolved(plan), found.memory, pricing_.machine()));
    return {plan, found.prediction};
  }
  [[nodiscard]] Planned<Plan> pinned(Plan plan) const {
    const plan::Found found = plan::priced(describe_(plan), true, pricing_);
    return {std::move(plan), found.prediction};
  }

 private:
  std::string problem_;
  plan::Pricing& pricing_;
  Describe describe_;
  LeastBytes least_bytes_;
  std::vector<Plan> plans_;
  std::vector<std::uint64_t> bounds_;
};

/// Describes the key `plan` of a kernel's options.
template <class Plan>
void describe_plan(config::Fields& fields, std::optional<Plan>& plan) {
  fields.optional_group({"plan", "a pinned plan; the planner searches one if not given"}, plan);
}

/// A workload whose program is one description of a problem and a plan. `Problem` is an aggregate
/// that begins with the kernel's `options` and the `machine`. Beside these types the kernel
/// declares
///   Planned<Plan> planned(const std::shared_ptr<const Problem>&, MachineCosts&)
///   WorkloadSummary summary(const Problem&, const Plan&), all but plan and prediction
///   plan::Description describe_program(const std::shared_ptr<const Problem>&, const Plan&)
///   CheckResult checked(const Problem&, const Plan&, const TensorReader&, const CheckRequest&)
template <class Problem, class Plan>
class PlannedWorkload : public Workload {
 public:
  PlannedWorkload(const decltype(Problem::options)& options, MachineCosts& costs)
      : problem_(std::make_shared<const Problem>(Problem{options, costs.machine()})) {
    Planned<Plan> found = planned(problem_, costs);
    plan_ = std::move(found.plan);
    WorkloadSummary all = summary(*problem_, plan_);
    all.plan = config::resolved(plan_);
    all.prediction = found.prediction;
    summarise(std::move(all));
  }

  [[nodiscard]] program::Program lowered() const override {
    return plan::lower(describe_program(problem_, plan_));
  }
  [[nodiscard]] CheckResult check(const TensorReader& tensors,
                                  const CheckRequest& request) const override {
    return checked(*problem_, plan_, tensors, request);
  }

 private:
  std::shared_ptr<const Problem> problem_;
  Plan plan_;
};

}  // namespace tessera::kernels
