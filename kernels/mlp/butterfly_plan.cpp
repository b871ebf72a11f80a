#include <fmt/format.h>

#include "kernels/butterfly/gradient.h"
#include "kernels/mlp/layer.h"

namespace tessera::mlp {

namespace {

/// Bytes of all stacks on the fullest tile, out of those of the gradient of one: a transform keeps
/// no factor's input, but twiddles both ways, and of each stack what diagonals take and give.
std::uint64_t stacked_bytes(const Linear& linear, const butterfly::Geometry& geometry,
                            std::uint64_t of_gradient) {
  constexpr std::uint64_t kRowArrays = 5;
  if (!linear.transforms()) return of_gradient * linear.stacks();
  return 2 * butterfly::GradientLayout(geometry).bytes() +
         (1 + kRowArrays * linear.stacks()) * geometry.bytes(0);
}

}  // namespace

/// The cut of least predicted cycles for the gradient of one stack that leaves room for `kept`.
Planned<ButterflyPlan> plan_butterfly(const Linear& linear,
                                      const std::optional<butterfly::Plan>& pinned,
                                      const LayerRoom& room_of, MachineCosts& costs) {
  butterfly::Problem problem = linear.factors(room_of.samples);
  if (room_of.type == program::Type::f16 && !problem.is_complex())
    problem.dtype = butterfly::Number::f16;
  const MachineConfig& machine = costs.machine();
  const std::uint64_t room = std::uint64_t{machine.tile.sram_kib} * 1024;
  plan::Pricing pricing(costs);
  std::optional<butterfly::Candidate> best;
  std::uint64_t least = ~std::uint64_t{0};
  const auto consider = [&](const butterfly::Plan& plan) {
    butterfly::Candidate candidate = butterfly::pinned_plan(plan, problem, pricing);
    candidate.tile_bytes = stacked_bytes(linear, {problem, plan}, candidate.tile_bytes);
    const std::uint64_t bytes = candidate.tile_bytes + room_of.kept;
    least = std::min(least, bytes);
    const auto rank = [&](const butterfly::Candidate& of) {
      return room_of.least ? of.tile_bytes : of.prediction.cycles;
    };
    if (bytes <= room && (!best || rank(candidate) < rank(*best))) best = candidate;
  };
  if (pinned) consider(*pinned);
  for (std::uint32_t split = 1; !pinned && split <= std::min(problem.pairs(), machine.tiles);
       split *= 2) {
    butterfly::Plan plan;
    plan.split_features = split;
    const std::uint32_t parts = std::min(problem.units(), machine.tiles / split);
    plan.split_n = ceil_div(problem.units(), ceil_div(problem.units(), parts));
    for (plan.workers_n = 1; plan.workers_n <= machine.tile.contexts; ++plan.workers_n)
      if (machine.tile.contexts % plan.workers_n == 0) consider(plan);
  }
  if (!best)
    return {nullptr, fmt::format("mlp: a layer of {} stacks of {} features for {} samples needs "
                                 "{} bytes a tile, of which {} are taken, allowed {} "
                                 "(machine.tile.sram_kib {})",
                                 linear.stacks(), problem.features, room_of.samples, least,
                                 room_of.kept, room, machine.tile.sram_kib)};
  return {
      std::make_shared<const ButterflyPlan>(ButterflyPlan{{problem, best->plan}, best->tile_bytes}),
      {}};
}

}  // namespace tessera::mlp
