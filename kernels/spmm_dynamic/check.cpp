#include "kernels/sparse/check.h"

#include <algorithm>

#include "kernels/spmm_dynamic/spmm_dynamic.h"

namespace tessera::spmm_dynamic {

namespace {

/// Each tile adds the blocks of a row in the order in which pools arrive; the tile that reduces a
/// part of the sums begins with its own.
sparse::SumOrder order_of(const Problem& problem, const PoolShape& shape, const Packing& packing) {
  const Grid& grid = shape.grid;
  sparse::SumOrder order{{}, {std::vector(problem.block_rows, sparse::PartialSums(grid.y))}};
  const auto visits = travel(shape, packing.pools).visits;
  for (std::size_t partition = 0; partition < visits.size(); ++partition)
    for (const Visit& visit : visits[partition])
      for (const RowPart& part : visit.group->rows)
        for (std::uint64_t e = part.begin; e < part.end; ++e)
          order.rows.front()[part.row][partition / grid.x].push_back(e);
  for (std::uint32_t z = 0; z < grid.z; ++z)
    order.columns.push_back({z * grid.columns, (z + 1) * grid.columns, 0});
  order.own = [parts = Parts(problem, shape)](std::uint32_t row, std::uint32_t column) {
    return parts.holder(row, column).y;
  };
  return order;
}

/// Index of each block's first value in its pool.
std::vector<std::uint64_t> places_in_pools(const PoolShape& shape, const Packing& packing) {
  std::vector<std::uint64_t> first(packing.blocks);
  const std::uint64_t area = std::uint64_t{shape.shape.block} * shape.shape.block;
  for (const Pool& pool : packing.pools)
    for_each_unit(shape, pool,
                  [&](std::uint32_t unit, std::uint64_t e) { first[e] = unit * area; });
  return first;
}

}  // namespace

CheckResult SpmmDynamic::check_run(const TensorReader& tensors, const CheckRequest& request,
                                   std::uint32_t run) const {
  HostThreads threads(request.threads);
  const std::vector<float> found = tensors.floats(result_name(run), threads);
  if (problem_.shape.gradient) return check_values(found, run, threads);
  const Shape& shape = problem_.shape;
  const auto rounding = kernels::rounding_of(
      shape.type, shape.partials, shape.mixed() || shape.type != Type::f16 ? 1 : shape.summed(),
      plan_.pool.grid.y);
  const sparse::BlockMatrix& w = patterns_[run];
  const std::vector<float> rows = kernels::rows_of(x_, threads);
  const sparse::DenseRows x{rows, options_.n};
  return sparse::check_product(
      w, x, found, rounding, request,
      sparse::exact_row(w, x, shape, order_of(problem_, plan_.pool, packings_[run])));
}

/// Checks every element of every block inside W; `found` is [block][element].
CheckResult SpmmDynamic::check_values(std::span<const float> found, std::uint32_t run,
                                      HostThreads& threads) const {
  const sparse::BlockMatrix& w = patterns_[run];
  const Grid& grid = plan_.pool.grid;
  const std::size_t n = options_.n;
  const std::vector<float> left = kernels::rows_of(yg_, threads);
  const std::vector<float> right = kernels::rows_of(x_, threads);
  const std::vector<std::uint64_t> first = places_in_pools(plan_.pool, packings_[run]);
  const Buffers bytes(problem_, plan_.pool);
  sparse::SampledProduct product{
      "dW",    kernels::rounding_of(options_.weights.dtype, Type::f32, 1, grid.z + 1),
      w.block, 0,
      n,       w.blocks()};
  product.corner = [&](std::uint64_t e) -> sparse::SampledProduct::Corner {
    const auto after = std::ranges::upper_bound(w.row_begin, e);
    const auto block_row = static_cast<std::uint64_t>(after - w.row_begin.begin()) - 1;
    return {block_row * w.block, std::uint64_t{w.column[e]} * w.block};
  };
  product.left = [&](std::uint64_t row) { return row < w.rows ? &left[row * n] : nullptr; };
  product.right = [&](std::uint64_t row) { return row < w.columns ? &right[row * n] : nullptr; };
  product.found = [&](std::uint64_t e, std::uint32_t at) {
    return found[e * w.block * w.block + at];
  };
  for (std::uint64_t z = 0; z < grid.z; ++z)
    product.columns.push_back({z * grid.columns, (z + 1) * grid.columns});
  product.own = [&](std::uint64_t e, std::uint32_t at) {
    return bytes.holder((first[e] + at) * problem_.shape.partial_bytes());
  };
  return sparse::check_sampled(product, {CheckMode::full}, threads);
}

}  // namespace tessera::spmm_dynamic
