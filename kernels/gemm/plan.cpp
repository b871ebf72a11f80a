#include "kernels/gemm/plan.h"

#include "kernels/gemm/outside.h"
#include "kernels/pinned.h"
#include "kernels/planned.h"
#include "sim/base/counted.h"
#include "sim/base/errors.h"
#include "sim/data/element.h"

namespace tessera::gemm {

using kernels::require_parts;
using kernels::require_pinned;

namespace {

constexpr config::Names<Stationary, 2> kOperands{{{"a", Stationary::a}, {"b", Stationary::b}}};

/// Throws KeyError for invalid rounds of a pinned plan.
void require_rounds(const Problem& problem, const Plan& plan) {
  kernels::require_rounds(problem.outside, plan.rounds.has_value());
  if (!plan.rounds) return;
  require_pinned(plan.cuts == 1, "cuts", plan.cuts, "1 with rounds");
  const auto [m, n, k, loads] = *plan.rounds;
  const bool sets_alternate = loads == kernels::Loads::beside && std::uint64_t{m} * n > 1;
  require_pinned(!sets_alternate || k == 1 || k % 2 == 0, "rounds.k", k,
                 "1 or an even number with rounds of m or n and loads beside them");
  if (!RoundGrid(problem, plan).needs_all())
    throw KeyError("workload.plan.rounds",
                   "found {} x {} x {}, allowed as many as parts of whole blocks need, for k one "
                   "more if that makes their number even",
                   m, n, k);
}

}  // namespace

Product most_parts(const Product& product, const BlockShape& block, Stationary stationary) {
  const std::uint32_t depth = ceil_div(product.k, block.depth);
  if (stationary == Stationary::b) return {product.m, ceil_div(product.n, block.columns), depth};
  return {ceil_div(product.m, block.columns), product.n, depth};
}

bool allows(Layout layout, Stationary stationary) {
  return layout == Layout::blocked || stationary == Stationary::b;
}

void describe(config::Fields& fields, Rounds& rounds) {
  const config::Range<std::uint32_t> parts{1, 1U << 24};
  fields.field({"m", "parts of m, computed one after the other"}, rounds.m, parts);
  fields.field({"n", "parts of n"}, rounds.n, parts);
  fields.field({"k", "parts of k, whose sums accumulate on the tiles"}, rounds.k, parts);
  describe(fields, rounds.loads);
}

void describe(config::Fields& fields, Plan& plan) {
  const config::Range<std::uint32_t> parts{1, 1U << 24};
  fields.field({"split_m", "parts of m"}, plan.split_m, parts);
  fields.field({"split_n", "parts of n"}, plan.split_n, parts);
  fields.field({"split_k", "number of parts of k, whose partial sums are added at the end"},
               plan.split_k, parts);
  fields.field({"cuts", "number of supersteps in which a tile's part of k is loaded"}, plan.cuts,
               parts);
  fields.field({"stationary", "operand held as weights in the matrix unit"}, plan.stationary,
               kOperands);
  fields.field({"partials", "type of partial sums"}, plan.partials, data::kFloatTypes);
  fields.field({"pairs", "operand of which both tiles of a pair receive the same part"}, plan.pairs,
               kOperands);
  fields.optional_group({"rounds", "rounds in which operands are loaded from external memory"},
                        plan.rounds);
  fields.field({"unit",
                "inputs and outputs of the matrix unit's blocks, or vector code; auto: the unit's "
                "own size, or vector code if it does not support the type"},
               plan.unit, kernels::kForms);
}

Candidate pinned_plan(const Plan& pinned, const Problem& problem, MachineCosts& costs) {
  const MachineConfig& machine = costs.machine();
  Plan plan = pinned;
  if (plan.rounds) plan.rounds->loads = kernels::loads_of(plan.rounds->loads, machine.tile);
  require_pinned(problem.dtype != Type::f32 || plan.partials == Type::f32, "partials", "f16",
                 "f32 for dtype f32");
  require_pinned(allows(problem.layout, plan.stationary), "stationary", "a",
                 "b for layout natural");
  const BlockShape block =
      block_shape(problem.unit, problem.dtype, plan.partials, plan.unit, "workload.plan.unit");
  if (problem.grain % block.depth != 0 || problem.grain % block.columns != 0)
    throw KeyError("workload.plan.unit", "found {} x {}, allowed divisors of the padding of {}",
                   block.depth, block.columns, problem.grain);
  require_rounds(problem, plan);
  const Product most =
      most_parts(RoundGrid(problem, plan).problem().product, block, plan.stationary);
  require_parts("split_m", plan.split_m, most.m, "rows or blocks of m");
  require_parts("split_n", plan.split_n, most.n, "columns or blocks of n");
  require_parts("split_k", plan.split_k, most.k, "blocks of k");
  require_parts("cuts", plan.cuts, most.k / plan.split_k, "blocks of a part of k");
  const std::uint64_t tiles = std::uint64_t{plan.split_m} * plan.split_n * plan.split_k;
  if (tiles > machine.tiles) {
    throw KeyError("workload.plan",
                   "found {} x {} x {} = {} parts, allowed at most one for each of {}",
                   plan.split_m, plan.split_n, plan.split_k, tiles, counted(machine.tiles, "tile"));
  }
  const elf::KernelCode code("gemm");
  plan::Pricing pricing(costs);
  const plan::Found found = plan::priced(described(problem, plan, machine, code), true, pricing);
  plan.unit = block.form();
  return {plan, found.prediction, program::total(found.memory)};
}

}  // namespace tessera::gemm
