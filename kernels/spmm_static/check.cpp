#include "kernels/spmm_static/bit_exact.h"
#include "kernels/spmm_static/spmm_static.h"

namespace tessera::spmm_static {

namespace {

/// Products of one row that a sum takes before it is rounded to partials.
std::uint32_t depth_of(const sparse::Shape& shape) {
  if (shape.block == 1) return shape.mixed() ? 2 : 1;
  return shape.summed();
}

std::uint32_t most_sources(const Partition& partition) {
  std::uint32_t most = 1;
  for (const Layer& layer : partition.layers) {
    std::vector<std::uint32_t> sources(partition.block_rows, 0);
    for (const Share& share : layer.shares) {
      for (const RowRun& run : share.rows) most = std::max(most, ++sources[run.row]);
    }
  }
  return most;
}

}  // namespace

kernels::Rounding rounding_of(const Partition& partition) {
  return kernels::rounding_of(partition.shape.type, partition.shape.partials,
                              depth_of(partition.shape), most_sources(partition));
}

CheckResult check_product(const Partition& partition, const sparse::BlockMatrix& w,
                          std::span<const float> x, std::uint32_t n, std::span<const float> y,
                          const CheckRequest& request) {
  return sparse::check_product(w, x, n, y, rounding_of(partition), request,
                               exact_rows(partition, w, n));
}

CheckResult SpmmStatic::check(const TensorReader& tensors, const CheckRequest& request) const {
  HostThreads threads(request.threads);
  return check_product(plan_.partition, w_, kernels::rows_of(x_, threads), options_.n,
                       tensors.floats("Y", threads), request);
}

}  // namespace tessera::spmm_static
