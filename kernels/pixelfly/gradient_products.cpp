#include "kernels/pixelfly/gradient_products.h"

#include <algorithm>

#include "sim/base/ranges.h"
#include "sim/plan/pricing.h"

namespace tessera::pixelfly {

std::string GradientPlan::misfit() const {
  if (!dw.misfit.empty()) return dw.misfit;
  if (dv && !dv->misfit.empty()) return dv->misfit;
  for (const auto* product : {&z, &t})
    if (*product && !(*product)->misfit.empty()) return (*product)->misfit;
  return {};
}

std::vector<sparse::Shape> gradient_shapes(const sparse::Shape& shape,
                                           const MachineConfig& machine) {
  std::vector<sparse::Shape> shapes;
  if (!shape.on_unit()) return shapes;
  const std::vector<kernels::BlockShape> forms =
      kernels::block_shapes(machine.tile.matrix_unit, shape.unit.input, shape.unit.partial);
  for (const kernels::BlockShape& form : forms) {
    const std::uint32_t side = std::max(form.depth, form.columns);
    const bool square = form.depth == std::min(forms.front().depth, side) &&
                        form.columns == std::min(forms.front().columns, side);
    sparse::Shape one = shape;
    one.unit = form;
    if ((square || form.columns == shape.y_depth()) && one.on_unit() &&
        one.x_depth() == shape.x_depth() && one.y_depth() == shape.y_depth())
      shapes.push_back(one);
  }
  return shapes;
}

GradientPlan plan_products(const GradientMatrices& of, const sparse::Shape& shape,
                           const GradientRows& rows, MachineCosts& costs, const Pinned& pinned,
                           std::uint64_t beside, bool on_unit) {
  const std::uint32_t columns = rows.columns;
  std::vector<DenseRows> b{rows.x};
  if (rows.z) b.push_back(*rows.z);
  std::vector<kernels::EvenStorage> squares;
  for (DenseRows& each : b) {
    if (!on_unit) continue;
    squares.push_back(each.storage);
    each.storage = square_storage(shape, each.storage.bytes() / shape.bytes() / columns, columns,
                                  costs.machine().tiles);
  }
  const std::uint64_t made = rows.z ? rows.z->storage.each() : 0;
  GradientPlan plan{{},
                    {},
                    plan_sampled(of.dw, shape, columns, costs, pinned.dw,
                                 {{rows.dy}, b, beside + made, on_unit}, "workload.plan.dw"),
                    {}};
  plan.squares = std::move(squares);
  if (!rows.t || !plan.dw.misfit.empty()) return plan;
  // On the unit T is weights: a row of its blocks has all rows of X as positions.
  const std::uint64_t left = beside + plan.dw.results().each();
  const SampledOperands operands = on_unit
                                       ? SampledOperands{{*rows.t}, {b.front()}, left, true, true}
                                       : SampledOperands{{rows.x}, {*rows.t}, left};
  plan.dv = plan_sampled(on_unit ? of.vt : of.dv, shape, columns, costs, pinned.dv, operands,
                         "workload.plan.dv");
  return plan;
}

GradientPlan best_products(const GradientMatrices& of, const sparse::Shape& shape,
                           const GradientRows& rows, MachineCosts& costs, std::uint64_t beside,
                           bool on_unit_allowed) {
  plan::Pricing pricing(costs);
  const sparse::TileCode code;
  const auto planned = [&](const sparse::Shape& form, bool on_unit) {
    GradientPlan plan = plan_products(of, form, rows, costs, {}, beside, on_unit);
    if (!plan.misfit().empty()) return plan;
    plan::Description description(costs.machine().tiles);
    const Statement statement{description, code, costs.machine().tile.contexts};
    const auto given = [&](const std::optional<DenseRows>& lie) {
      return lie ? statement.stored(lie->storage, "given") : BufferId{};
    };
    const auto wanted = [&](const Sampled& result) {
      return statement.stored(result.results(), "wanted", {}, true);
    };
    const std::vector<Tile> tiles =
        state_products(statement, plan,
                       {given(rows.x), given(rows.z), given(rows.dy), given(rows.t),
                        wanted(plan.dw), plan.dv ? wanted(*plan.dv) : BufferId{}});
    plan.prediction = pricing.time(description, tiles);
    return plan;
  };
  GradientPlan best = planned(shape, false);
  if (!on_unit_allowed) return best;
  for (const sparse::Shape& form : gradient_shapes(shape, costs.machine())) {
    if (rows.columns % square_columns(form) != 0) continue;
    GradientPlan unit = planned(form, true);
    const bool fits = unit.misfit().empty();
    if (!best.misfit().empty() || (fits && unit.prediction.cycles <= best.prediction.cycles))
      best = std::move(unit);
  }
  return best;
}

std::vector<Tile> state_products(const Statement& statement, const GradientPlan& plan,
                                 const GradientArrays& arrays) {
  Arrays x{arrays.x};
  if (plan.dw.partition.x.size() > 1) x.push_back(arrays.z);
  const bool on_unit = plan.dw.on_unit;
  if (on_unit)
    x = make_squares(statement, plan.dw.partition.shape, plan.squares, x, plan.dw.partition.tiles);
  std::vector<Tile> tiles = state_sampled(statement, plan.dw, "dw ", {arrays.dy}, x, arrays.dw);
  if (!plan.dv) return tiles;
  const Arrays rows{x.front()};
  const Arrays t{arrays.t};
  for (const Tile tile :
       state_sampled(statement, *plan.dv, "dv ", on_unit ? t : rows, on_unit ? rows : t, arrays.dv))
    add_once(tiles, tile);
  return tiles;
}

}  // namespace tessera::pixelfly
