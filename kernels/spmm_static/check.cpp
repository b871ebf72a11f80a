#include <algorithm>

#include "kernels/spmm_static/spmm_static.h"
#include "sim/base/ranges.h"

namespace tessera::spmm_static {

namespace {

/// Products of one row that a sum takes before it is rounded to partials.
std::uint32_t depth_of(const sparse::Shape& shape) {
  if (shape.block == 1) return shape.mixed() ? 2 : 1;
  return shape.summed();
}

/// The partial rows of each layer's block rows, in the order of its shares.
std::vector<std::vector<sparse::PartialSums>> partial_rows(const Partition& partition) {
  std::vector<std::vector<sparse::PartialSums>> all;
  for (const Layer& layer : partition.layers) {
    std::vector<sparse::PartialSums>& rows = all.emplace_back(partition.block_rows);
    for (const Share& share : layer.shares)
      for (const RowRun& run : share.rows)
        rows[run.row].push_back(slice(partition.deal.source, run.first, run.last));
  }
  return all;
}

/// Each tile adds the blocks of its share of a row one after the other; the tile at which its
/// partial rows meet adds those in the order of the shares.
sparse::ExactRow exact_row(const Partition& partition, const sparse::BlockMatrix& w,
                           std::uint32_t n) {
  sparse::SumOrder order{{}, partial_rows(partition)};
  for (std::uint32_t round = 0; round < n; round += partition.columns)
    for (const Part& part : partition.parts)
      order.columns.push_back({round + part.begin, round + part.end, part.layer});
  return sparse::exact_row(w, partition.shape, std::move(order));
}

}  // namespace

kernels::Rounding rounding_of(std::span<const Partition> partitions) {
  std::size_t most = 1;
  for (const Partition& partition : partitions)
    for (const auto& rows : partial_rows(partition))
      for (const sparse::PartialSums& row : rows) most = std::max(most, row.size());
  const sparse::Shape& shape = partitions.front().shape;
  return kernels::rounding_of(shape.type, shape.partials, depth_of(shape), word(most));
}

CheckResult check_product(std::span<const Partition> partitions,
                          std::span<const sparse::BlockMatrix> parts, const sparse::BlockMatrix& w,
                          std::span<const float> x, std::uint32_t n, std::span<const float> y,
                          const CheckRequest& request) {
  std::vector<sparse::ExactRow> exact;
  for (std::size_t i = 0; i < parts.size(); ++i)
    exact.push_back(exact_row(partitions[i], parts[i], n));
  return sparse::check_product(
      w, x, n, y, rounding_of(partitions), request,
      [&](std::uint32_t row, std::span<const float> of, std::span<float> made) {
        std::size_t part = 0;
        for (; row >= parts[part].rows; ++part) row -= parts[part].rows;
        exact[part](row, of, made);
      });
}

CheckResult SpmmStatic::check(const TensorReader& tensors, const CheckRequest& request) const {
  HostThreads threads(request.threads);
  return check_product(
      partitions_, parts_.empty() ? std::span<const sparse::BlockMatrix>(&w_, 1) : parts_, w_,
      kernels::rows_of(x_, threads), options_.n, tensors.floats("Y", threads), request);
}

}  // namespace tessera::spmm_static
