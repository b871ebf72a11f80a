#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/layout.h"
#include "sim/base/counted.h"
#include "sim/base/errors.h"
#include "sim/base/parallel.h"
#include "sim/config/writers.h"
#include "sim/plan/lower.h"
#include "sim/plan/search.h"
#include "sim/program/catalogue.h"
#include "sim/program/image.h"
#include "sim/program/workload.h"

/// Plans, searched or pinned, and workloads built from them.
namespace tessera::kernels {

/// The error message that no plan of `problem` (kernel name and sizes) fits, with the memory `need`
/// of the closest plan, and that plan if it is not null.
inline std::string no_plan_fits(const std::string& problem, const config::Json& closest,
                                const program::CategoryBytes& need, const MachineConfig& machine) {
  const std::string plan = closest.is_null() ? "" : " " + closest.dump();
  return program::overflow_message(fmt::format("no plan of {} fits {}; closest plan{}", problem,
                                               counted(machine.tiles, "tile"), plan),
                                   {&need, 1}, machine);
}

/// The options of a plan search, each with a lower bound in cycles, and the prices for bounds.
template <class Plan>
class Plans {
 public:
  explicit Plans(plan::Pricing& pricing) : pricing_(pricing) {}

  /// Adds a plan. `bound` must not exceed the plan's cycles, else the search may miss it.
  void add(Plan plan, std::uint64_t bound) {
    add_variants(
        1, [plan = std::move(plan)](std::uint32_t) { return plan; }, bound);
  }
  /// Adds `count` variants of a plan, ordered so that each needs less memory and more time than the
  /// previous one (plan::Space).
  void add_variants(std::uint32_t count, std::function<Plan(std::uint32_t)> variant,
                    std::uint64_t bound) {
    options_.emplace_back(count, std::move(variant));
    bounds_.push_back(bound);
  }
  void clear() {
    options_.clear();
    bounds_.clear();
  }

  [[nodiscard]] const MachineConfig& machine() const { return pricing_.machine(); }
  [[nodiscard]] MachineCosts& costs() const { return pricing_.costs(); }
  [[nodiscard]] plan::Pricing& pricing() const { return pricing_; }
  /// A description without steps that owns the functions used for bounds.
  [[nodiscard]] plan::Description& shell() { return shell_; }
  /// Cycles of a call of one of shell()'s functions.
  [[nodiscard]] std::uint64_t call(const plan::Function& function, const plan::Sizes& sizes) {
    return pricing_.call(shell_, function, sizes);
  }
  /// Cycles of an exchange with this load on its busiest tile, and of the barrier before it.
  [[nodiscard]] std::uint64_t superstep(const ExchangeLoad& load) const {
    return costs().barrier() + costs().exchange(load);
  }

  [[nodiscard]] const std::vector<std::uint64_t>& bounds() const { return bounds_; }
  [[nodiscard]] std::uint32_t variants(std::size_t option) const { return options_[option].first; }
  [[nodiscard]] Plan plan(std::size_t option, std::uint32_t variant) const {
    return options_[option].second(variant);
  }

 private:
  plan::Pricing& pricing_;
  plan::Description shell_{1};
  std::vector<std::pair<std::uint32_t, std::function<Plan(std::uint32_t)>>> options_;
  std::vector<std::uint64_t> bounds_;
};

/// The best plan and its search result; the closest plan if none fits.
template <class Plan>
struct Choice {
  Plan plan;
  plan::Found found;
};
/// Searches `plans`. `least_bytes(plan)`: lower bound of the fullest tile's bytes, for the last
/// variant of an option; `described(plan)`: constructs plan::Described; `space`: other settings.
template <class Plan, class LeastBytes, class Described>
Choice<Plan> best_of(const Plans<Plan>& plans, const LeastBytes& least_bytes,
                     const Described& described, plan::Space space = {}) {
  space.bounds = plans.bounds();
  space.least_bytes = [&](std::size_t option) {
    return least_bytes(plans.plan(option, plans.variants(option) - 1));
  };
  space.variants = [&](std::size_t option) { return plans.variants(option); };
  space.describe = [&](std::size_t option, std::uint32_t variant) {
    return plan::Described(described(plans.plan(option, variant)));
  };
  const plan::Found found = plan::search(space, plans.pricing());
  return {plans.plan(found.option, found.variant), found};
}

/// Describes the key `plan` of a kernel's options.
template <class Plan>
void describe_plan(config::Fields& fields, std::optional<Plan>& plan) {
  fields.optional_group({"plan", "a pinned plan; the planner searches one if not given"}, plan);
}

/// Gives a problem the pricing during its plan search, and null after it. Does nothing by default;
/// kernels that need prices to describe a program overload it.
template <class Problem>
void ask(const Problem& /*problem*/, plan::Pricing* /*pricing*/) {}

/// A workload whose program is one description of a problem and a plan. `Problem` is constructed
/// from, and has as members, the kernel's `options` (with an optional `plan`) and the `machine`.
/// The kernel defines
///   std::string text(const Problem&): its sizes, for headings and messages
///   plan::Described described(const std::shared_ptr<const Problem>&, const Plan&): the program,
///     and representative tiles, among them the slowest and the fullest
///   void complete(const Problem&, Plan&): checks a pinned plan and chooses what it leaves open.
///     If absent, add_plans() adds all completions of a pinned plan, and the search chooses one
///   void add_plans(const std::shared_ptr<const Problem>&, Plans<Plan>&): adds all plans
///   std::uint64_t least_bytes(const Problem&, const Plan&): lower bound of bytes, fullest tile
///   WorkloadSummary summary(const Problem&, const Plan&): all but problem, plan, prediction
///   CheckResult checked(const Problem&, const Plan&, const TensorReader&, HostThreads&), or
///     with const CheckRequest& instead of HostThreads&
template <class Problem>
class PlannedWorkload : public Workload {
 public:
  using Options = decltype(Problem::options);
  using Plan = typename decltype(Options::plan)::value_type;

  /// Throws UserError if no plan fits.
  PlannedWorkload(std::string_view kernel, const Options& options, MachineCosts& costs)
      : problem_(std::make_shared<const Problem>(Problem{options, costs.machine()})) {
    plan::Pricing pricing(costs);
    ask(*problem_, &pricing);
    found_ = found(kernel, pricing);
    ask(*problem_, nullptr);
    WorkloadSummary all = summary(*problem_, plan_);
    all.problem = text(*problem_);
    all.plan = config::resolved(plan_);
    all.prediction = found_.prediction;
    summarise(std::move(all));
  }

  /// Predicted bytes on the fullest tile.
  [[nodiscard]] std::uint64_t tile_bytes() const { return program::total(found_.memory); }
  [[nodiscard]] program::Program lowered() const override {
    if (const auto program = std::exchange(found_.program, nullptr)) return std::move(*program);
    return plan::lower(described(problem_, plan_).description);
  }
  [[nodiscard]] CheckResult check(const TensorReader& tensors,
                                  const CheckRequest& request) const override {
    if constexpr (requires { checked(*problem_, plan_, tensors, request); }) {
      return checked(*problem_, plan_, tensors, request);
    } else {
      HostThreads threads(request.threads);
      return checked(*problem_, plan_, tensors, threads);
    }
  }

 private:
  plan::Found found(std::string_view kernel, plan::Pricing& pricing) {
    const std::optional<Plan>& pinned = problem_->options.plan;
    if constexpr (requires { complete(*problem_, plan_); }) {
      if (!pinned) return searched(kernel, pricing);
      plan_ = *pinned;
      complete(*problem_, plan_);
    } else {
      plan::Found best = searched(kernel, pricing);
      if (best.fits || !pinned) return best;
    }
    return plan::priced(described(problem_, plan_), true, pricing);
  }

  plan::Found searched(std::string_view kernel, plan::Pricing& pricing) {
    Plans<Plan> plans(pricing);
    add_plans(problem_, plans);
    tessera::check(!plans.bounds().empty(), "planned: a kernel has no plans to choose from");
    auto [best, found] = best_of(
        plans, [&](const Plan& plan) { return least_bytes(*problem_, plan); },
        [&](const Plan& plan) { return described(problem_, plan); });
    plan_ = std::move(best);
    if (found.fits || problem_->options.plan) return found;
    // Memory beyond 32-bit addresses has no table: report the lower bound.
    if (program::total(found.memory) == 0)
      found.memory[static_cast<std::size_t>(program::Category::tensors)] =
          least_bytes(*problem_, plan_);
    throw UserError(no_plan_fits(fmt::format("{} for {}", kernel, text(*problem_)),
                                 config::resolved(plan_), found.memory, pricing.machine()));
  }

  std::shared_ptr<const Problem> problem_;
  Plan plan_;
  mutable plan::Found found_;  ///< its program is given away by the first build
};

/// A catalogue entry whose workload is PlannedWorkload<Problem>.
template <class Problem>
Kernel planned_kernel(std::string name, std::string sentence) {
  using Planned = PlannedWorkload<Problem>;
  return make_kernel<typename Planned::Options>(
      name, std::move(sentence),
      [name](const typename Planned::Options& options, MachineCosts& costs) {
        return std::make_unique<Planned>(name, options, costs);
      });
}

}  // namespace tessera::kernels
