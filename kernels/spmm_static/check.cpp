#include <algorithm>

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

/// Each tile adds the blocks of its share of a row one after the other; the tile at which its
/// partial rows meet adds those in the order of the shares.
class BitExact {
 public:
  BitExact(const Partition& partition, const sparse::BlockMatrix& w, std::uint32_t n)
      : partition_(partition), w_(w), n_(n) {
    for (const Layer& layer : partition.layers) {
      std::vector<std::vector<RowRun>>& rows = runs_.emplace_back(partition.block_rows);
      for (const Share& share : layer.shares) {
        for (const RowRun& run : share.rows) rows[run.row].push_back(run);
      }
    }
  }

  void row(std::uint32_t row, std::span<const float> x, std::span<float> y) const {
    std::fill(y.begin(), y.end(), 0.0F);
    for (std::uint32_t round = 0; round < n_; round += partition_.columns) {
      for (const Part& part : partition_.parts) {
        const std::uint32_t begin = round + part.begin;
        if (begin < n_)
          add(part, row, begin, x, y.subspan(begin, std::min(part.width(), n_ - begin)));
      }
    }
    kernels::OrderedSums::round(partition_.shape.type, y);
  }

 private:
  void add(const Part& part, std::uint32_t row, std::uint32_t begin, std::span<const float> x,
           std::span<float> sums) const {
    const kernels::OrderedSums all(partition_.shape.partials, partition_.shape.summed());
    std::vector<float> partial;
    for (const RowRun& run : runs_[part.layer][row / w_.block]) {
      partial.assign(sums.size(), 0.0F);
      for (std::uint64_t e = run.first; e < run.last; ++e)
        sparse::add_block(all, w_, partition_.deal.source[e], row % w_.block, x, n_, begin,
                          partial);
      all.join(partial, sums);
    }
  }

  const Partition& partition_;
  const sparse::BlockMatrix& w_;
  std::uint32_t n_;
  std::vector<std::vector<std::vector<RowRun>>> runs_;  // by layer and block row
};

}  // namespace

kernels::Rounding rounding_of(std::span<const Partition> partitions) {
  std::uint32_t most = 1;
  for (const Partition& partition : partitions) most = std::max(most, most_sources(partition));
  const sparse::Shape& shape = partitions.front().shape;
  return kernels::rounding_of(shape.type, shape.partials, depth_of(shape), most);
}

CheckResult check_product(const Partition& partition, const sparse::BlockMatrix& w,
                          std::span<const float> x, std::uint32_t n, std::span<const float> y,
                          const CheckRequest& request) {
  return check_product({&partition, 1}, {&w, 1}, w, x, n, y, request);
}

CheckResult check_product(std::span<const Partition> partitions,
                          std::span<const sparse::BlockMatrix> parts, const sparse::BlockMatrix& w,
                          std::span<const float> x, std::uint32_t n, std::span<const float> y,
                          const CheckRequest& request) {
  std::vector<BitExact> exact;
  for (std::size_t i = 0; i < parts.size(); ++i) exact.emplace_back(partitions[i], parts[i], n);
  return sparse::check_product(
      w, x, n, y, rounding_of(partitions), request,
      [&](std::uint32_t row, std::span<const float> of, std::span<float> made) {
        std::size_t part = 0;
        for (; row >= parts[part].rows; ++part) row -= parts[part].rows;
        exact[part].row(row, of, made);
      });
}

CheckResult SpmmStatic::check(const TensorReader& tensors, const CheckRequest& request) const {
  HostThreads threads(request.threads);
  return check_product(
      partitions_, parts_.empty() ? std::span<const sparse::BlockMatrix>(&w_, 1) : parts_, w_,
      kernels::rows_of(x_, threads), options_.n, tensors.floats("Y", threads), request);
}

}  // namespace tessera::spmm_static
