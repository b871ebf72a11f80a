#include "kernels/sparse/check.h"

#include <algorithm>

#include "kernels/spmm_tilewise/spmm_tilewise.h"

namespace tessera::spmm_tilewise {

namespace {

/// The transpose of what is left of W, so that C^T = W^T A^T is a sparse product.
sparse::BlockMatrix kept_transposed(const Problem& problem) {
  const DenseWeights& w = problem.w;
  std::vector<data::Entry> entries;
  problem.pattern.for_kept([&](std::uint32_t row, std::uint32_t column) {
    entries.push_back({column, row, static_cast<double>(w.at(row, column))});
  });
  return sparse::to_blocks(data::from_entries(w.columns, w.rows, std::move(entries)), 1);
}

/// Of a column of W the kept rows of its group, block after block of the product's depth, then
/// single elements.
void add_exactly(const Problem& problem, const Group& group, std::uint64_t position,
                 std::uint32_t column, std::span<const float> a, std::span<float> sums) {
  const gemm::BlockShape& block = problem.block;
  const auto add = [&](const kernels::OrderedSums& ordered, std::uint32_t row) {
    if (row < problem.w.rows)
      ordered.add(problem.w.at(row, column), &a[std::size_t{row} * problem.m], sums);
  };
  const kernels::OrderedSums whole(block.partial, block.on_unit() ? block.depth : 1);
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    add(whole, group.rows[i]);
    if ((i + 1) % block.depth == 0) whole.store(sums);
  }
  kernels::OrderedSums::round(block.input, sums);
  const OverlayPart& part = group.overlay;
  for (std::uint32_t e = part.begin[position]; e < part.begin[position + 1]; ++e)
    add(kernels::OrderedSums(block.input, 1), part.rows[part.row[e]]);
}

sparse::ExactRow exact_columns(const Problem& problem, const Plan& plan) {
  struct Place {
    const Group* group = nullptr;  ///< null: all of the column is pruned
    std::uint64_t position = 0;
  };
  std::vector<Place> places(problem.w.columns);
  for (const Group& group : plan.groups)
    for (std::uint64_t i = 0; i < group.positions(); ++i)
      places[problem.pattern.tiles[group.tile].columns[group.columns.begin + i]] = {&group, i};
  return [&problem, places](std::uint32_t column, std::span<const float> a, std::span<float> sums) {
    std::fill(sums.begin(), sums.end(), 0.0F);
    const auto [group, position] = places[column];
    if (group != nullptr) add_exactly(problem, *group, position, column, a, sums);
  };
}

}  // namespace

CheckResult SpmmTilewise::check(const TensorReader& tensors, const CheckRequest& request) const {
  HostThreads threads(request.threads);
  const std::vector<float> columns_of_c =
      tensors.floats("C", threads, TensorReader::Order::transposed);
  // The overlay is added up in the type of C, element by element.
  const bool singles = !pattern_.overlay.empty();
  const kernels::Rounding rounding = kernels::rounding_of(
      problem_.block.input, singles ? problem_.block.input : problem_.block.partial,
      singles || !problem_.block.on_unit() ? 1 : problem_.block.depth, plan_->cuts);
  return sparse::check_product(kept_transposed(problem_), kernels::rows_of(a_, threads, true),
                               problem_.m, columns_of_c, rounding, request,
                               exact_columns(problem_, *plan_));
}

}  // namespace tessera::spmm_tilewise
