#include <algorithm>
#include <bit>
#include <map>
#include <vector>

#include "kernels/butterfly/geometry.h"
#include "kernels/butterfly/statement.h"
#include "kernels/pinned.h"
#include "kernels/planned.h"
#include "sim/base/counted.h"
#include "sim/base/errors.h"
#include "sim/machine/nodes.h"

namespace tessera::butterfly {

using kernels::require_pinned;

namespace {

/// Stages that the tile code can take at once.
std::uint32_t most_fused(const Problem& problem) {
  const bool one =
      problem.pass == Pass::grad_twiddles || problem.complex_code() || problem.blocked();
  return one ? 1 : 2;
}

/// Rounds that may be of use: in layout planned the result takes the place of X, gradients of
/// twiddles are added up at once, and what is smaller than a stretch of X by far fits anyway.
std::uint32_t most_rounds(const Problem& problem, const MachineConfig& machine) {
  constexpr std::uint64_t kLeastStretch = 64;
  if (problem.layout == Layout::planned || problem.pass == Pass::grad_twiddles) return 1;
  const std::uint64_t row = std::uint64_t{problem.units()} * problem.unit_bytes();
  if (row * problem.blocks() / machine.tiles > sram_bytes(machine.tile)) return 1;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
      row * problem.blocks() * kLeastStretch / machine.tiles / sram_bytes(machine.tile), 1,
      problem.units()));
}

/// Parts of the columns among workers; products of blocks divide them themselves.
std::uint32_t most_workers_n(const Problem& problem, const MachineConfig& machine) {
  return problem.blocked() ? 1 : machine.tile.contexts;
}

/// Throws KeyError if a pinned plan cannot be carried out.
void require_valid(const Plan& plan, const Problem& problem, const MachineConfig& machine) {
  const std::uint32_t contexts = machine.tile.contexts;
  require_pinned(std::has_single_bit(plan.split_features) && plan.split_features <= problem.pairs(),
                 "split_features", plan.split_features,
                 "a power of two up to {}, the pairs of a factor", problem.pairs());
  kernels::require_parts("split_n", plan.split_n, problem.units(), "words of n columns");
  require_pinned(plan.fused <= most_fused(problem), "fused", plan.fused, "1 to {}",
                 most_fused(problem));
  require_pinned(contexts % plan.workers_n == 0, "workers_n", plan.workers_n,
                 "divisors of {} (machine.tile.contexts)", contexts);
  require_pinned(plan.workers_n <= most_workers_n(problem, machine), "workers_n", plan.workers_n,
                 "1 with workload.block above 1");
  const bool rounds = problem.layout == Layout::blocked && problem.pass != Pass::grad_twiddles;
  // The arguments of a round's vertices alone take more than so many bytes of a tile.
  constexpr std::uint64_t kLeastBytes = 64;
  const std::uint64_t most = std::min<std::uint64_t>(problem.units() / plan.split_n,
                                                     sram_bytes(machine.tile) / kLeastBytes);
  require_pinned(plan.rounds <= (rounds ? most : 1), "rounds", plan.rounds,
                 rounds ? fmt::format("1 to {} (words of n columns over split_n)", most)
                        : "1 but in layout blocked and passes forward and grad_input");
  if (std::uint64_t{plan.split_features} * plan.split_n > machine.tiles) {
    throw KeyError("workload.plan", "found {} x {} parts, allowed at most one for each of {}",
                   plan.split_features, plan.split_n, counted(machine.tiles, "tile"));
  }
}

Candidate priced(const Geometry& geometry, bool schedules, plan::Pricing& pricing) {
  const Codes codes;
  const plan::Found found = plan::priced(
      {describe_program(geometry, pricing.machine(), codes, nullptr), representatives(geometry)},
      schedules, pricing);
  return {geometry.problem, geometry.plan, found.prediction, program::total(found.memory)};
}

/// All plans of a problem: its form, how features and work are divided as options, rounds as their
/// variants. A pinned plan is the only one of each form.
class Plans {
 public:
  Plans(std::span<const Problem> forms, const std::optional<Plan>& pinned,
        const MachineConfig& machine)
      : pinned_(pinned), machine_(machine) {
    space_.variants = [this](std::size_t option) { return word(rounds(option).size()); };
    space_.describe = [this](std::size_t option, std::uint32_t variant) {
      const Geometry its = geometry(option, variant);
      return plan::Described(describe_program(its, machine_, codes_, nullptr),
                             representatives(its));
    };
    for (const Problem& form : forms) add_all(form);
    space_.bounds.resize(plans_.size());
  }
  Plans(const Plans&) = delete;
  Plans& operator=(const Plans&) = delete;

  [[nodiscard]] Geometry geometry(std::size_t option, std::uint32_t variant) const {
    const Problem& problem = *plans_[option].problem;
    Plan plan = plans_[option].plan;
    if (pinned_) return {problem, plan};
    plan.rounds = rounds(option)[variant];
    // As few parts as give the fullest tile as little.
    const std::uint32_t units = ceil_div(problem.units(), plan.rounds);
    const std::uint32_t split =
        std::min(problem.units() / plan.rounds,
                 std::max(1U, machine_.tiles / plan.split_features / plans_[option].spared));
    plan.split_n = ceil_div(units, ceil_div(units, split));
    return {problem, plan};
  }
  [[nodiscard]] const plan::Space& space() const { return space_; }

 private:
  struct Option {
    const Problem* problem;
    Plan plan;                 ///< plan of one round
    std::uint32_t spared = 1;  ///< columns lie on a part of the tiles in so many
  };

  [[nodiscard]] const std::vector<std::uint32_t>& rounds(std::size_t option) const {
    return rounds_.at(plans_[option].problem);
  }

  void add_all(const Problem& problem) {
    Plan plan = pinned_.value_or(Plan());
    if (problem.blocked()) plan.unit = problem.shape.form();
    if (problem.outer.depth != 0) plan.outer_unit = problem.outer.form();
    std::vector<std::uint32_t>& rounds = rounds_[&problem];
    if (pinned_) {
      require_valid(plan, problem, machine_);
      rounds = {plan.rounds};
      plans_.push_back({&problem, plan});
      return;
    }
    for (std::uint32_t each = 1; each <= most_rounds(problem, machine_); each += (each + 2) / 3)
      rounds.push_back(each);
    const std::uint32_t most = std::min(problem.pairs(), std::bit_floor(machine_.tiles));
    for (plan.split_features = 1; plan.split_features <= most; plan.split_features *= 2)
      for (plan.fused = 1; plan.fused <= most_fused(problem); ++plan.fused)
        for (plan.workers_n = 1; plan.workers_n <= most_workers_n(problem, machine_);
             ++plan.workers_n)
          if (machine_.tile.contexts % plan.workers_n == 0) add_splits({&problem, plan}, most);
  }

  /// Gradients of twiddles are summed over all parts of the columns: fewer are less to sum.
  void add_splits(Option option, std::uint32_t most_features) {
    constexpr std::uint32_t kMostSpared = 8;
    const std::uint32_t columns = machine_.tiles / option.plan.split_features;
    const bool sums = option.problem->pass == Pass::grad_twiddles;
    const std::uint32_t most = sums ? std::min(columns, kMostSpared) : 1;
    for (; option.spared <= most; option.spared *= 2) add(option, most_features);
  }

  /// More than a tile holds is not worth describing where features can be split further.
  void add(const Option& option, std::uint32_t most_features) {
    plans_.push_back(option);
    const Geometry least = geometry(plans_.size() - 1, word(rounds(plans_.size() - 1).size() - 1));
    if (least.bytes(0) > 2 * sram_bytes(machine_.tile) &&
        option.plan.split_features * 2 <= most_features)
      plans_.pop_back();
  }

  const std::optional<Plan>& pinned_;
  const MachineConfig& machine_;
  Codes codes_;
  std::map<const Problem*, std::vector<std::uint32_t>> rounds_;  ///< by variant
  std::vector<Option> plans_;
  plan::Space space_;
};

[[noreturn]] void fail(const Geometry& closest, program::CategoryBytes need,
                       const MachineConfig& machine) {
  // More bytes than 32 bits address have no memory table.
  if (program::total(need) == 0)
    need[static_cast<std::size_t>(program::Category::tensors)] = closest.bytes(0);
  throw UserError(kernels::no_plan_fits(
      fmt::format("butterfly for features={} n={}", closest.problem.features, closest.problem.n),
      config::resolved(closest.plan), need, machine));
}

}  // namespace

void describe(config::Fields& fields, Plan& plan) {
  fields.field({"split_features", "parts of the features, a power of two"}, plan.split_features,
               {1, 1U << 24});
  fields.field({"split_n", "parts of the columns"}, plan.split_n, {1, 1U << 24});
  fields.field({"fused", "factors that a tile applies in registers"}, plan.fused, {1, 2});
  fields.field({"workers_n", "parts of a tile's columns among its workers"}, plan.workers_n,
               {1, 1024});
  fields.field({"rounds",
                "equal parts of the columns that are computed one after the other, in layout "
                "blocked"},
               plan.rounds, {1, 1U << 24});
  fields.field({"unit",
                "of products of blocks: blocks of so many inputs and outputs that the matrix unit "
                "multiplies, or vector code; auto: chosen"},
               plan.unit, kernels::kForms);
  fields.field({"outer_unit", "the same of the gradients of blocks"}, plan.outer_unit,
               kernels::kForms);
}

Candidate choose_plan(std::span<const Problem> forms, const std::optional<Plan>& pinned,
                      MachineCosts& costs) {
  plan::Pricing pricing(costs);
  const Plans plans(forms, pinned, costs.machine());
  const plan::Found found = plan::search(plans.space(), pricing);
  const Geometry chosen = plans.geometry(found.option, found.variant);
  // A pinned one is told that it does not fit by its memory table.
  if (!found.fits && pinned)
    return priced(chosen, chosen.problem.layout == Layout::blocked, pricing);
  if (!found.fits) fail(chosen, found.memory, costs.machine());
  return {chosen.problem, chosen.plan, found.prediction, program::total(found.memory)};
}

Candidate pinned_plan(const Plan& plan, const Problem& problem, plan::Pricing& pricing) {
  require_valid(plan, problem, pricing.machine());
  return priced({problem, plan}, false, pricing);
}

}  // namespace tessera::butterfly
