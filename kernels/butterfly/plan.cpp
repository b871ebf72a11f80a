#include "kernels/butterfly/plan.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/butterfly/statement.h"
#include "sim/base/counted.h"
#include "sim/base/errors.h"
#include "sim/config/writers.h"
#include "sim/plan/search.h"

namespace tessera::butterfly {

namespace {

std::uint64_t capacity(const MachineConfig& machine) {
  return std::uint64_t{machine.tile.sram_kib} * 1024;
}

/// Stages that the tile code can take at once.
std::uint32_t most_fused(const Problem& problem) {
  const bool one =
      problem.pass == Pass::grad_twiddles || problem.complex_code() || problem.blocked();
  return one ? 1 : 2;
}

/// Rounds that may be of use: in layout planned the result takes the place of X, gradients of
/// twiddles are added up at once, and what is smaller than a stretch of X by far fits anyway.
std::uint32_t most_rounds(const Problem& problem, const MachineConfig& machine) {
  constexpr std::uint64_t kLeastShare = 64;
  if (problem.layout == Layout::planned || problem.pass == Pass::grad_twiddles) return 1;
  const std::uint64_t row = std::uint64_t{problem.units()} * problem.unit_bytes();
  if (row * problem.blocks() / machine.tiles > capacity(machine)) return 1;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
      row * problem.blocks() * kLeastShare / machine.tiles / capacity(machine), 1,
      problem.units()));
}

/// Parts of the columns among workers; products of blocks divide them themselves.
std::uint32_t most_workers_n(const Problem& problem, const MachineConfig& machine) {
  return problem.blocked() ? 1 : machine.tile.contexts;
}

/// All plans of a problem: how features and work are divided as options, rounds as their variants.
class Plans {
 public:
  Plans(const Problem& problem, plan::Pricing& pricing)
      : problem_(problem), machine_(pricing.machine()) {
    for (std::uint32_t rounds = 1; rounds <= most_rounds(problem_, machine_);
         rounds += (rounds + 2) / 3)
      rounds_.push_back(rounds);
    space_.variants = [this](std::size_t /*option*/) { return word(rounds_.size()); };
    space_.describe = [this](std::size_t option, std::uint32_t variant) {
      return describe_program(geometry(option, variant), machine_, codes_, nullptr);
    };
    space_.tiles = [this](std::size_t option, std::uint32_t variant) {
      return representatives(geometry(option, variant));
    };
    add_all();
    space_.bounds.resize(plans_.size());
  }
  Plans(const Plans&) = delete;
  Plans& operator=(const Plans&) = delete;

  [[nodiscard]] Plan plan(std::size_t option, std::uint32_t variant) const {
    Plan plan = plans_[option];
    plan.rounds = rounds_[variant];
    // As few parts as give the fullest tile as little.
    const std::uint32_t units = ceil_div(problem_.units(), plan.rounds);
    const std::uint32_t split =
        std::min(problem_.units() / plan.rounds, machine_.tiles / plan.split_features);
    plan.split_n = ceil_div(units, ceil_div(units, split));
    return plan;
  }
  [[nodiscard]] const plan::Space& space() const { return space_; }

 private:
  [[nodiscard]] Geometry geometry(std::size_t option, std::uint32_t variant) const {
    return {problem_, plan(option, variant)};
  }

  void add_all() {
    const std::uint32_t most = std::min(problem_.pairs(), std::bit_floor(machine_.tiles));
    Plan plan;
    for (plan.split_features = 1; plan.split_features <= most; plan.split_features *= 2)
      for (plan.fused = 1; plan.fused <= most_fused(problem_); ++plan.fused)
        for (plan.workers_n = 1; plan.workers_n <= most_workers_n(problem_, machine_);
             ++plan.workers_n)
          if (machine_.tile.contexts % plan.workers_n == 0) add(plan, most);
  }

  /// More than a tile holds is not worth describing where features can be split further.
  void add(const Plan& plan, std::uint32_t most_features) {
    plans_.push_back(plan);
    const Geometry least = geometry(plans_.size() - 1, word(rounds_.size() - 1));
    if (least.bytes(0) > 2 * capacity(machine_) && plan.split_features * 2 <= most_features)
      plans_.pop_back();
  }

  const Problem& problem_;
  const MachineConfig& machine_;
  Codes codes_;
  std::vector<std::uint32_t> rounds_;  ///< by variant
  std::vector<Plan> plans_;            ///< by option, of one round
  plan::Space space_;
};

[[noreturn]] void fail(const Problem& problem, const Plan& closest, program::CategoryBytes need,
                       const MachineConfig& machine) {
  // More bytes than 32 bits address have no memory table.
  if (program::total(need) == 0)
    need[static_cast<std::size_t>(program::Category::tensors)] =
        Geometry{problem, closest}.bytes(0);
  throw UserError(program::overflow_message(
      fmt::format("no plan of butterfly for features={} n={} fits {}; of the closest, {}",
                  problem.features, problem.n, counted(machine.tiles, "tile"),
                  config::resolved(closest).dump()),
      {&need, 1}, machine));
}

void require(bool holds, const char* key, std::uint64_t found, const std::string& allowed) {
  if (holds) return;
  throw KeyError(fmt::format("workload.plan.{}", key),
                 fmt::format("found {}, allowed {}", found, allowed));
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

Candidate choose_plan(const Problem& problem, MachineCosts& costs) {
  plan::Pricing pricing(costs);
  const Plans plans(problem, pricing);
  const plan::Found found = plan::search(plans.space(), pricing);
  const Plan plan = plans.plan(found.option, found.variant);
  if (!found.fits) fail(problem, plan, found.memory, costs.machine());
  return {plan, found.prediction, program::total(found.memory)};
}

Candidate pinned_plan(const Plan& plan, const Problem& problem, plan::Pricing& pricing) {
  const MachineConfig& machine = pricing.machine();
  const std::uint32_t contexts = machine.tile.contexts;
  require(std::has_single_bit(plan.split_features) && plan.split_features <= problem.pairs(),
          "split_features", plan.split_features,
          fmt::format("a power of two up to {}, the pairs of a factor", problem.pairs()));
  require(plan.split_n >= 1 && plan.split_n <= problem.units(), "split_n", plan.split_n,
          fmt::format("1 to {} (words of n columns)", problem.units()));
  require(plan.fused <= most_fused(problem), "fused", plan.fused,
          fmt::format("1 to {}", most_fused(problem)));
  require(contexts % plan.workers_n == 0, "workers_n", plan.workers_n,
          fmt::format("divisors of {} (machine.tile.contexts)", contexts));
  require(plan.workers_n <= most_workers_n(problem, machine), "workers_n", plan.workers_n,
          "1 with workload.block above 1");
  const bool rounds = problem.layout == Layout::blocked && problem.pass != Pass::grad_twiddles;
  // The arguments of a round's vertices alone take more than so many bytes of a tile.
  constexpr std::uint64_t kLeastBytes = 64;
  const std::uint64_t most =
      std::min<std::uint64_t>(problem.units() / plan.split_n, capacity(machine) / kLeastBytes);
  require(plan.rounds <= (rounds ? most : 1), "rounds", plan.rounds,
          rounds ? fmt::format("1 to {} (words of n columns over split_n)", most)
                 : "1 but in layout blocked and passes forward and grad_input");
  const Geometry geometry{problem, plan};
  if (std::uint64_t{plan.split_features} * plan.split_n > machine.tiles) {
    throw KeyError("workload.plan",
                   fmt::format("found {} x {} parts, allowed at most one for each of {}",
                               plan.split_features, plan.split_n, counted(machine.tiles, "tile")));
  }
  const Codes codes;
  const plan::Found found =
      plan::priced([&] { return describe_program(geometry, machine, codes, nullptr); },
                   representatives(geometry), problem.layout == Layout::blocked, pricing);
  return {plan, found.prediction, program::total(found.memory)};
}

}  // namespace tessera::butterfly
