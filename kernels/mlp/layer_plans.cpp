#include <fmt/format.h>

#include "kernels/mlp/layer.h"
#include "sim/config/writers.h"
#include "sim/machine/nodes.h"

namespace tessera::mlp {

using sparse::BlockMatrix;
using spmm_static::DenseRows;

namespace {

/// True if the matrix unit may compute weight gradients: stored weights are then transposed in
/// whole words.
bool may_make_squares(const sparse::Shape& shape) {
  return shape.on_unit() && shape.y_depth() % shape.lanes() == 0;
}

Planned<PixelflyPlan> plan_pixelfly(const Linear& linear, const LayerRoom& room,
                                    const sparse::Shape& of, MachineCosts& costs) {
  const std::uint32_t columns = room.columns;
  const std::uint32_t tiles = costs.machine().tiles;
  const std::uint32_t block = linear.layer.block;
  const std::uint32_t rank = linear.layer.rank;
  PixelflyPlan plan;
  plan.shape = of;
  sparse::Shape inner = plan.shape;
  inner.block = pixelfly::inner_block(plan.shape);
  plan.mask = linear.mask();
  const BlockMatrix& s = plan.mask;
  const std::uint32_t in = linear.padded_inputs();
  const std::uint32_t out = linear.padded_outputs();
  // Only the places of blocks matter here, not their values.
  const data::DenseOperand u(out, rank, room.type, 0, 0);
  const data::DenseOperand v(in, rank, room.type, 0, 0);
  plan.forward_of = pixelfly::beside(s, u);
  plan.back_of = pixelfly::beside(sparse::transposed(s), v, in / block);
  plan.z_of = pixelfly::transposed_blocks(v, inner.block, round_up(rank, block));
  plan.t_of = pixelfly::transposed_blocks(u, inner.block, round_up(rank, block));
  plan.vt_of = pixelfly::transposed_blocks(v, block, round_up(rank, block));
  plan.v_of = pixelfly::all_blocks(v, block);
  const auto rows = [&](const sparse::Shape& shape, std::uint64_t first, std::uint64_t count) {
    return DenseRows{first, spmm_static::rows_on_tiles(shape, count, columns, tiles)};
  };
  const std::uint64_t given = std::uint64_t{s.block_columns()} * block;
  const std::uint64_t made = round_up(rank, block);
  const std::vector<DenseRows> x{rows(plan.shape, 0, given)};
  const std::vector<DenseRows> dy{rows(plan.shape, 0, out)};
  const std::vector<DenseRows> x_z{x.front(), rows(inner, given, made)};
  const std::vector<DenseRows> dy_t{dy.front(), rows(inner, out, made)};
  const std::vector<DenseRows> t{rows(inner, 0, made)};
  const std::uint64_t beside =
      room.kept + 2 * x.front().storage.each() + 2 * dy.front().storage.each();
  const auto product = [&](const BlockMatrix& w, const sparse::Shape& shape,
                           const std::vector<DenseRows>& from) {
    return spmm_static::choose_plan(w, shape, columns, costs, {},
                                    {"mlp", "workload.layers", from, beside});
  };
  plan.z = product(plan.z_of, inner, x);
  plan.t = product(plan.t_of, inner, dy);
  plan.forward = product(plan.forward_of, plan.shape, x_z);
  plan.back = product(plan.back_of, plan.shape, dy_t);
  for (const spmm_static::Plan* each : {&plan.z, &plan.t, &plan.forward, &plan.back})
    if (!each->misfit.empty()) return {nullptr, each->misfit};
  plan.gradients = pixelfly::best_products({plan.forward_of, plan.v_of, plan.vt_of}, plan.shape,
                                           {x.front(), dy.front(), x_z.back(), t.front(), columns},
                                           costs, beside, may_make_squares(plan.shape));
  if (const std::string misfit = plan.gradients.misfit(); !misfit.empty()) return {nullptr, misfit};
  return {std::make_shared<const PixelflyPlan>(std::move(plan)), {}};
}

/// Cycles of the four products and the gradients.
std::uint64_t cycles(const PixelflyPlan& plan) {
  return plan.z.prediction.cycles + plan.t.prediction.cycles + plan.forward.prediction.cycles +
         plan.back.prediction.cycles + plan.gradients.prediction.cycles;
}

/// True if products of this shape, or gradients computed with it, may be faster than a plan's.
bool may_be_faster(const sparse::Shape& shape, const PixelflyPlan& than, MachineCosts& costs) {
  return (may_make_squares(shape) && !than.gradients.dw.on_unit) ||
         spmm_static::may_be_faster(shape, than.forward.partition, than.forward_of, costs);
}

/// Bytes of all stacks on the fullest tile, given those of one stack's gradient. A transform keeps
/// no factor's input, but twiddles of both directions and, per stack, rows of its diagonals.
std::uint64_t stacked_bytes(const Linear& linear, const butterfly::Geometry& geometry,
                            std::uint64_t of_gradient) {
  constexpr std::uint64_t kRowArrays = 5;
  if (!linear.transforms()) return of_gradient * linear.stacks();
  return 2 * butterfly::GradientLayout(geometry).bytes() +
         (1 + kRowArrays * linear.stacks()) * geometry.bytes(0);
}

}  // namespace

/// Plans pixelfly in the form of products with the fewest predicted cycles.
Planned<PixelflyPlan> plan_pixelfly(const Linear& linear, const LayerRoom& room,
                                    MachineCosts& costs) {
  Planned<PixelflyPlan> best;
  for (const sparse::Shape& shape :
       sparse::make_shapes(linear.layer.block, room.type, program::Type::f32,
                           kernels::Layout::blocked, costs.machine())) {
    if (best.plan && !may_be_faster(shape, *best.plan, costs)) continue;
    Planned<PixelflyPlan> planned = plan_pixelfly(linear, room, shape, costs);
    if (!best.plan || (planned.plan && cycles(*planned.plan) < cycles(*best.plan)))
      best = std::move(planned);
  }
  return best;
}

nlohmann::ordered_json to_json(const PixelflyPlan& plan) {
  return {{"low_rank", config::resolved(pinned(plan.z))},
          {"forward", config::resolved(pinned(plan.forward))},
          {"low_rank_back", config::resolved(pinned(plan.t))},
          {"input_gradient", config::resolved(pinned(plan.back))},
          {"gradients",
           plan.gradients.dw.on_unit ? plan.gradients.dw.partition.shape.unit.name() : "vector"},
          {"dw", config::resolved(pinned(plan.gradients.dw))},
          {"dv", config::resolved(pinned(*plan.gradients.dv))}};
}

/// The cut with the fewest predicted cycles for one stack's gradient that leaves room for `kept`.
Planned<ButterflyPlan> plan_butterfly(const Linear& linear,
                                      const std::optional<butterfly::Plan>& pinned,
                                      const LayerRoom& room_of, MachineCosts& costs) {
  butterfly::Problem problem = linear.factors(room_of.samples);
  if (room_of.type == program::Type::f16 && !problem.is_complex())
    problem.dtype = butterfly::Number::f16;
  const MachineConfig& machine = costs.machine();
  const std::uint64_t room = sram_bytes(machine.tile);
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
    return {nullptr,
            fmt::format("mlp: a layer of {} stacks of {} features for {} samples needs {} bytes "
                        "per tile, of which {} are in use, allowed {} (machine.tile.sram_kib {})",
                        linear.stacks(), problem.features, room_of.samples, least, room_of.kept,
                        room, machine.tile.sram_kib)};
  return {
      std::make_shared<const ButterflyPlan>(ButterflyPlan{{problem, best->plan}, best->tile_bytes}),
      {}};
}

}  // namespace tessera::mlp
