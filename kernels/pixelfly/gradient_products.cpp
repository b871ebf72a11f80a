#include "kernels/pixelfly/gradient_products.h"

#include <algorithm>
#include <span>

#include "kernels/sparse/tensors.h"
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
  std::vector<EvenStorage> squares;
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
  // On the unit T is the weights; all rows of X stream past each row of its blocks.
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

using program::Role;

namespace {

/// Calls visit(block number, run of contiguous elements, at) for a tile's part of the results.
template <class Visit>
void for_runs(const Sampled& plan, std::size_t tile, const Visit& visit) {
  const std::uint64_t size = plan.partition.shape.bytes();
  const EvenStorage storage = plan.results();
  const std::uint64_t first = storage.begin(tile) / size;
  const std::uint64_t end =
      std::min(first + storage.bytes_on(tile) / size, plan.blocks.size() * plan.area());
  for (std::uint64_t at = first; at < end;) {
    const std::uint64_t e = at / plan.area();
    Sampled::Run run = plan.run(e, at % plan.area());
    run.count = std::min(run.count, end - at);
    visit(e, run, at - first);
    at += run.count;
  }
}

}  // namespace

void add_layer(plan::Description& description, const Layer& layer, program::Type type) {
  sparse::add_given(description, {"S", Role::weights, type, {}}, layer.s);
  if (layer.rank() == 0) return;
  description.tensor(data::tensor_of("U", layer.u, type));
  description.tensor(data::tensor_of("V", layer.v, type));
}

std::uint64_t block_index(const sparse::BlockMatrix& matrix, std::uint32_t row,
                          std::uint32_t column) {
  const std::uint64_t first = matrix.row_begin[row];
  const auto columns = std::span(matrix.column).subspan(first, matrix.row_begin[row + 1] - first);
  return first +
         static_cast<std::uint64_t>(std::ranges::lower_bound(columns, column) - columns.begin());
}

void add_sparse_gradient(plan::Description& description, const GradientBlocks& blocks,
                         const sparse::BlockMatrix& s) {
  const Sampled& plan = blocks.plan;
  const program::Type type = plan.partition.shape.type;
  description.tensor(
      {{"dS.data", Role::gradient, type, {s.blocks(), s.block, s.block}},
       blocks.results,
       [&plan, &s, dense = blocks.dense](Tile tile, program::Runs& runs) {
         for_runs(plan, tile, [&](std::uint64_t e, const Sampled::Run& run, std::uint64_t at) {
           if (plan.column(e) >= dense) return;
           const std::uint64_t first = block_index(s, plan.row(e), plan.column(e)) * plan.area();
           const std::uint64_t inside = run.row % s.block * s.block + run.column % s.block;
           runs.add({at, first + inside, run.count, run.down ? s.block : 1});
         });
       }});
  sparse::add_pattern(description, {"dS", Role::gradient, type, {}}, s);
}

void add_dense_gradient(plan::Description& description, const GradientBlocks& blocks,
                        const char* name, const data::DenseOperand& factor) {
  const Sampled& plan = blocks.plan;
  description.tensor(
      {{name, Role::gradient, plan.partition.shape.type, {factor.rows(), factor.columns()}},
       blocks.results,
       [&plan, dense = blocks.dense, rows = factor.rows(), columns = factor.columns()](
           Tile tile, program::Runs& runs) {
         const std::uint64_t before = dense * std::uint64_t{plan.partition.shape.block};
         for_runs(plan, tile, [&](std::uint64_t e, const Sampled::Run& run, std::uint64_t at) {
           if (plan.column(e) < dense) return;
           const std::uint64_t column = run.column - before;
           if (run.row >= rows || column >= columns) return;
           const std::uint64_t room = run.down ? rows - run.row : columns - column;
           runs.add(
               {at, run.row * columns + column, std::min(run.count, room), run.down ? columns : 1});
         });
       }});
}

}  // namespace tessera::pixelfly
