#include <vector>

#include "kernels/sparse/check.h"
#include "kernels/spmm_static/replay.h"
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

sparse::Rounding rounding_of(const Partition& partition) {
  return sparse::rounding_of(partition.shape.type, partition.shape.partials,
                             depth_of(partition.shape), most_sources(partition));
}

CheckResult SpmmStatic::check(const TensorReader& tensors, const CheckRequest& request) const {
  if (request.mode == CheckMode::off) return {true, 0, 0, "off"};
  HostThreads threads(request.threads);
  return sparse::check_product(w_, x_, tensors.floats("Y", threads), rounding_of(plan_.partition),
                               request, replay_of(plan_.partition, w_, options_.n));
}

}  // namespace tessera::spmm_static
