#include "kernels/spmm_dynamic/bit_exact.h"

#include <algorithm>

namespace tessera::spmm_dynamic {

namespace {

using kernels::OrderedSums;

/// The part of those that share partial sums that adds up the one at this byte.
std::uint32_t adder_of(const Buffers& bytes, std::uint64_t at) {
  std::uint32_t part = 0;
  while (bytes.share(part, part).end <= at / kChunkBytes) ++part;
  return part;
}

/// The result of partial sums, of which tile `own` adds the others to its own.
float added(std::span<const float> partials, std::uint32_t own, const Shape& shape) {
  return kernels::to_type(shape.type, OrderedSums(shape.partials, 1).joined(partials, own));
}

/// Each tile adds the blocks of a row in the order in which pools come by; the tile that adds up a
/// part of the sums begins with its own.
class BitExact {
 public:
  BitExact(const Problem& problem, const PoolShape& shape, const Packing& packing,
           const sparse::BlockMatrix& w)
      : bytes_(problem, shape),
        shape_(shape.shape),
        grid_(shape.grid),
        w_(w),
        n_(problem.n),
        rows_{problem.block_rows, grid_.x},
        runs_(grid_.y, std::vector<std::vector<RowPart>>(problem.block_rows)) {
    const Visits visits = visits_of(shape, packing.pools);
    for (std::size_t partition = 0; partition < visits.size(); ++partition) {
      for (const SubGroup* group : visits[partition]) {
        for (const RowPart& part : group->rows)
          runs_[partition / grid_.x][part.row].push_back(part);
      }
    }
  }

  void row(std::uint32_t row, std::span<const float> x, std::span<float> y) const {
    std::vector<std::vector<float>> partials(grid_.y);
    for (std::uint32_t begin = 0; begin < n_; begin += grid_.columns) {
      const std::uint32_t width = std::min(grid_.columns, n_ - begin);
      for (std::uint32_t part = 0; part < grid_.y; ++part)
        add_blocks(runs_[part][row / w_.block], row % w_.block, x, begin,
                   partials[part] = std::vector<float>(width));
      for (std::uint32_t j = 0; j < width; ++j) y[begin + j] = joined(partials, row, j);
    }
  }

 private:
  void add_blocks(const std::vector<RowPart>& parts, std::uint32_t row, std::span<const float> x,
                  std::uint32_t begin, std::span<float> sums) const {
    const OrderedSums all(shape_.partials, shape_.summed());
    for (const RowPart& part : parts) {
      for (std::uint64_t e = part.begin; e < part.end; ++e)
        sparse::add_block(all, w_, e, row, x, n_, begin, sums);
    }
  }
  [[nodiscard]] float joined(const std::vector<std::vector<float>>& partials, std::uint32_t row,
                             std::uint32_t column) const {
    std::vector<float> of_column;
    of_column.reserve(partials.size());
    for (const std::vector<float>& partial : partials) of_column.push_back(partial[column]);
    return added(of_column, adder(row, column), shape_);
  }
  /// The part of the block columns whose tile adds up an element.
  [[nodiscard]] std::uint32_t adder(std::uint32_t row, std::uint32_t column) const {
    std::uint32_t x = 0;
    while (rows_.begin(x + 1) <= row / shape_.block) ++x;
    const std::uint64_t local = row - rows_.begin(x) * shape_.block;
    const std::uint64_t depth = shape_.y_depth();
    const std::uint64_t element = (local / depth * grid_.columns + column) * depth + local % depth;
    return adder_of(bytes_, element * shape_.partial_bytes());
  }

  Buffers bytes_;
  Shape shape_;
  Grid grid_;
  const sparse::BlockMatrix& w_;
  std::uint32_t n_;
  EvenSplit rows_;                                       // block rows over x
  std::vector<std::vector<std::vector<RowPart>>> runs_;  // by part y and block row
};

}  // namespace

sparse::ExactRow exact_rows(const Problem& problem, const PoolShape& shape, const Packing& packing,
                            const sparse::BlockMatrix& w) {
  return
      [exact = BitExact(problem, shape, packing, w)](std::uint32_t row, std::span<const float> x,
                                                     std::span<float> y) { exact.row(row, x, y); };
}

ExactValues::ExactValues(const Problem& problem, const PoolShape& shape, const Packing& packing,
                         const sparse::BlockMatrix& w)
    : bytes_(problem, shape), shape_(shape), first_(w.blocks()) {
  const std::uint64_t area = std::uint64_t{w.block} * w.block;
  for (const Pool& pool : packing.pools) {
    for_each_unit(shape, pool,
                  [&](std::uint32_t unit, std::uint64_t e) { first_[e] = unit * area; });
  }
}

double ExactValues::element(std::uint64_t e, std::uint32_t at, std::span<const float> left,
                            std::span<const float> right) const {
  const Grid& grid = shape_.grid;
  std::vector<float> partials(grid.z);
  for (std::uint32_t z = 0; z < grid.z; ++z) {
    const std::size_t begin = std::min<std::size_t>(left.size(), std::size_t{z} * grid.columns);
    const std::size_t columns = std::min<std::size_t>(left.size() - begin, grid.columns);
    partials[z] =
        kernels::vector_dot(shape_.shape.type, left.subspan(begin, columns), right.data() + begin);
  }
  const std::uint64_t byte = (first_[e] + at) * shape_.shape.partial_bytes();
  return static_cast<double>(added(partials, adder_of(bytes_, byte), shape_.shape));
}

}  // namespace tessera::spmm_dynamic
