#include "kernels/sparse/tensors.h"

#include <algorithm>

#include "kernels/pixelfly/gradient_products.h"

namespace tessera::pixelfly {

using program::Role;

namespace {

/// Calls visit(number of the block, its elements side by side, at) for what a tile holds.
template <class Visit>
void for_runs(const Sampled& plan, std::size_t tile, const Visit& visit) {
  const std::uint64_t size = plan.partition.shape.bytes();
  const kernels::EvenStorage storage = plan.results();
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
  sparse::add_given(description, {"S", Role::weights, type}, layer.s);
  if (layer.rank() == 0) return;
  description.tensor(data::tensor_of("U", layer.u, type));
  description.tensor(data::tensor_of("V", layer.v, type));
}

std::uint64_t block_index(const sparse::BlockMatrix& matrix, std::uint32_t row,
                          std::uint32_t column) {
  const auto at = [&](std::uint64_t e) {
    return matrix.column.begin() + static_cast<std::ptrdiff_t>(e);
  };
  const auto found =
      std::lower_bound(at(matrix.row_begin[row]), at(matrix.row_begin[row + 1]), column);
  return static_cast<std::uint64_t>(found - matrix.column.begin());
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
  sparse::add_pattern(description, {"dS", Role::gradient, type}, s);
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
