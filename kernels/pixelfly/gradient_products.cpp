#include "kernels/pixelfly/gradient_products.h"

namespace tessera::pixelfly {

using program::BufferId;
using spmm_static::BuffersOfRows;

Prediction GradientPlan::prediction() const {
  if (scheduled) return *scheduled;
  Prediction sum = dw.prediction;
  sum += turning;
  for (const auto* product : {&z, &t})
    if (*product) sum += (*product)->prediction;
  if (dv) sum += dv->prediction;
  return sum;
}

namespace {

/// As the unit takes them: in squares.
DenseRows in_squares(const DenseRows& rows, const sparse::Shape& shape, std::uint32_t columns,
                     std::uint32_t tiles) {
  const std::uint64_t count = rows.storage.bytes() / shape.bytes() / columns;
  return {rows.first, square_storage(shape, count, columns, tiles)};
}

}  // namespace

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
    each = in_squares(each, shape, columns, costs.machine().tiles);
  }
  const std::uint64_t made = rows.z ? rows.z->storage.each() : 0;
  GradientPlan plan{{},
                    {},
                    plan_sampled(of.dw, shape, columns, costs, pinned.dw,
                                 {{rows.dy}, b, beside + made, on_unit}, "workload.plan.dw"),
                    {}};
  plan.squares = std::move(squares);
  if (on_unit) plan.turning = predict_squares(shape, plan.squares, costs);
  if (!rows.t) return plan;
  // On the unit T is weights: a row of its blocks has all rows of X as positions.
  const std::uint64_t left = beside + plan.dw.results().each();
  const SampledOperands operands = on_unit
                                       ? SampledOperands{{*rows.t}, {b.front()}, left, true, true}
                                       : SampledOperands{{rows.x}, {*rows.t}, left};
  plan.dv = plan_sampled(on_unit ? of.vt : of.dv, shape, columns, costs, pinned.dv, operands,
                         "workload.plan.dv");
  return plan;
}

void add_products(sparse::Assembly& assembly, const GradientPlan& plan, const BuffersOfRows& dy,
                  BuffersOfRows x, const BuffersOfRows& t, const std::vector<BufferId>& dw,
                  const std::vector<BufferId>& dv) {
  const bool on_unit = plan.dw.on_unit;
  if (on_unit) {
    std::vector<RowsInBlocks> blocks;
    for (std::size_t i = 0; i < x.size(); ++i) blocks.push_back({plan.squares[i], x[i]});
    x = add_squares(assembly, plan.dw.partition.shape, blocks, plan.dw.partition.tiles);
  }
  const BuffersOfRows x_rows{x.front()};
  add_sampled(assembly, plan.dw, "dw ", dy, x, dw);
  if (!plan.dv) return;
  if (on_unit)
    add_sampled(assembly, *plan.dv, "dv ", t, x_rows, dv);
  else
    add_sampled(assembly, *plan.dv, "dv ", x_rows, t, dv);
}

}  // namespace tessera::pixelfly
