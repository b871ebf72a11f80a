#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/butterfly/butterfly.h"
#include "kernels/pinned.h"
#include "sim/base/counted.h"
#include "sim/base/errors.h"
#include "sim/machine/nodes.h"

namespace tessera::butterfly {

using kernels::require_pinned;

namespace {

/// Stages that the tile code can fuse.
std::uint32_t most_fused(const Problem& problem) {
  const bool one =
      problem.pass == Pass::grad_twiddles || problem.complex_code() || problem.blocked();
  return one ? 1 : 2;
}

/// Upper limit on useful rounds: 1 in layout planned (the result replaces X), for gradients of
/// twiddles (summed at once), and if X exceeds all SRAM; few if a stretch of X is far below a
/// tile's SRAM.
std::uint32_t most_rounds(const Problem& problem, const MachineConfig& machine) {
  constexpr std::uint64_t kLeastStretch = 64;
  if (problem.layout == Layout::planned || problem.pass == Pass::grad_twiddles) return 1;
  const std::uint64_t row = std::uint64_t{problem.units()} * problem.unit_bytes();
  if (row * problem.blocks() / machine.tiles > sram_bytes(machine.tile)) return 1;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
      row * problem.blocks() * kLeastStretch / machine.tiles / sram_bytes(machine.tile), 1,
      problem.units()));
}

/// Upper limit on parts of the columns among workers; block products divide them themselves.
std::uint32_t most_workers_n(const Problem& problem, const MachineConfig& machine) {
  return problem.blocked() ? 1 : machine.tile.contexts;
}

/// Throws KeyError if a pinned plan is invalid.
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
  // The arguments of a round's vertices alone take more bytes of a tile than this.
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

/// A plan for each candidate number of rounds, each with the fewest column parts that keep the
/// fullest tile's share. `spared`: use only 1 / spared of the tiles for column parts.
std::vector<Plan> in_rounds(const Problem& problem, Plan plan, const MachineConfig& machine,
                            std::uint32_t spared) {
  std::vector<Plan> plans;
  for (plan.rounds = 1; plan.rounds <= most_rounds(problem, machine);
       plan.rounds += (plan.rounds + 2) / 3) {
    const std::uint32_t units = ceil_div(problem.units(), plan.rounds);
    const std::uint32_t split = std::min(
        problem.units() / plan.rounds, std::max(1U, machine.tiles / plan.split_features / spared));
    plan.split_n = ceil_div(units, ceil_div(units, split));
    plans.push_back(plan);
  }
  return plans;
}

/// Adds all divisions of features and work, except those far from fitting if features can be split
/// further. Gradients of twiddles also try fewer column parts: there is less to reduce.
void add_form(const Problem& problem, Plan plan, kernels::Plans<Plan>& plans) {
  constexpr std::uint32_t kMostSpared = 8;
  const MachineConfig& machine = plans.machine();
  const std::uint32_t most = std::min(problem.pairs(), std::bit_floor(machine.tiles));
  const auto add_rounds = [&] {
    const bool sums = problem.pass == Pass::grad_twiddles;
    const std::uint32_t columns = machine.tiles / plan.split_features;
    for (std::uint32_t spared = 1; spared <= (sums ? std::min(columns, kMostSpared) : 1);
         spared *= 2) {
      std::vector<Plan> rounds = in_rounds(problem, plan, machine, spared);
      const Geometry least{problem, rounds.back()};
      if (least.bytes(0) <= 2 * sram_bytes(machine.tile) || plan.split_features * 2 > most)
        plans.add_variants(
            word(rounds.size()), [rounds](std::uint32_t i) { return rounds[i]; }, 0);
    }
  };
  for (plan.split_features = 1; plan.split_features <= most; plan.split_features *= 2)
    for (plan.fused = 1; plan.fused <= most_fused(problem); ++plan.fused)
      for (plan.workers_n = 1; plan.workers_n <= most_workers_n(problem, machine); ++plan.workers_n)
        if (machine.tile.contexts % plan.workers_n == 0) add_rounds();
}

}  // namespace

void describe(config::Fields& fields, Plan& plan) {
  fields.field({"split_features", "number of parts of the features, a power of two"},
               plan.split_features, {1, 1U << 24});
  fields.field({"split_n", "parts of the columns"}, plan.split_n, {1, 1U << 24});
  fields.field({"fused", "number of factors applied in registers, without stores between"},
               plan.fused, {1, 2});
  fields.field({"workers_n", "parts of a tile's columns among its workers"}, plan.workers_n,
               {1, 1024});
  fields.field({"rounds",
                "layout blocked: equal parts of the columns that are computed one after the other"},
               plan.rounds, {1, 1U << 24});
  fields.field({"unit",
                "inputs and outputs of the matrix unit's blocks in products of twiddle blocks, or "
                "vector code; auto: chosen"},
               plan.unit, kernels::kForms);
  fields.field({"outer_unit", "as unit, for the gradients of twiddle blocks"}, plan.outer_unit,
               kernels::kForms);
}

/// Adds plans for each form of the products; a pinned plan is the only one of its form.
void add_plans(const std::shared_ptr<const Subject>& subject, kernels::Plans<Plan>& plans) {
  const std::optional<Plan>& pinned = subject->options.plan;
  for (const Problem& form : subject->forms) {
    Plan plan = pinned.value_or(Plan());
    if (form.blocked()) plan.unit = form.shape.form();
    if (form.outer.depth != 0) plan.outer_unit = form.outer.form();
    if (pinned) {
      require_valid(plan, form, subject->machine);
      plans.add(plan, 0);
    } else {
      add_form(form, plan, plans);
    }
  }
}

std::uint64_t least_bytes(const Subject& subject, const Plan& plan) {
  return subject.geometry(plan).bytes(0);
}

Candidate pinned_plan(const Plan& plan, const Problem& problem, plan::Pricing& pricing) {
  require_valid(plan, problem, pricing.machine());
  const Geometry geometry{problem, plan};
  const Codes codes;
  const plan::Found found = plan::priced(
      {describe_program(geometry, pricing.machine(), codes, nullptr), representatives(geometry)},
      false, pricing);
  return {plan, found.prediction, program::total(found.memory)};
}

}  // namespace tessera::butterfly
