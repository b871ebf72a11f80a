#include "kernels/sparse/check.h"

#include <algorithm>

#include "kernels/spmm_dynamic/spmm_dynamic.h"

namespace tessera::spmm_dynamic {

namespace {

using kernels::OrderedSums;

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
      : parts_(problem, shape),
        shape_(shape.shape),
        grid_(shape.grid),
        w_(w),
        n_(problem.n),
        runs_(grid_.y, std::vector<std::vector<RowPart>>(problem.block_rows)) {
    const auto visits = travel(shape, packing.pools).visits;
    for (std::size_t partition = 0; partition < visits.size(); ++partition) {
      for (const Visit& visit : visits[partition]) {
        for (const RowPart& part : visit.group->rows)
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
    return added(of_column, parts_.holder(row, column).y, shape_);
  }

  Parts parts_;
  Shape shape_;
  Grid grid_;
  const sparse::BlockMatrix& w_;
  std::uint32_t n_;
  std::vector<std::vector<std::vector<RowPart>>> runs_;  // by part y and block row
};

/// The bit-exact reference of elements of Yg X^T at the places of W's blocks.
class ExactValues {
 public:
  ExactValues(const Problem& problem, const PoolShape& shape, const Packing& packing,
              const sparse::BlockMatrix& w);

  /// Element `at` of block e, of a row of Yg and one of X.
  [[nodiscard]] double element(std::uint64_t e, std::uint32_t at, std::span<const float> left,
                               std::span<const float> right) const;

 private:
  Buffers bytes_;
  PoolShape shape_;
  std::vector<std::uint64_t> first_;  ///< of each block, among the values of its pool
};

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
  return static_cast<double>(added(partials, bytes_.holder(byte), shape_.shape));
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
  return sparse::check_product(
      patterns_[run], kernels::rows_of(x_, threads), options_.n, found, rounding, request,
      [exact = BitExact(problem_, plan_.pool, packings_[run], patterns_[run])](
          std::uint32_t row, std::span<const float> x, std::span<float> y) {
        exact.row(row, x, y);
      });
}

/// Every element of every block inside W; `found` block after block.
CheckResult SpmmDynamic::check_values(std::span<const float> found, std::uint32_t run,
                                      HostThreads& threads) const {
  const sparse::BlockMatrix& w = patterns_[run];
  const std::uint32_t area = w.block * w.block;
  const std::size_t n = options_.n;
  const auto rounding =
      kernels::rounding_of(options_.weights.dtype, Type::f32, 1, plan_.pool.grid.z + 1);
  const std::vector<float> left = kernels::rows_of(yg_, threads);
  const std::vector<float> right = kernels::rows_of(x_, threads);
  const ExactValues exact(problem_, plan_.pool, packings_[run], w);
  const auto compare_block = [&](std::uint64_t block_row, std::uint64_t e,
                                 kernels::Comparison& into) {
    for (std::uint32_t at = 0; at < area; ++at) {
      const std::uint64_t row = block_row * w.block + at / w.block;
      const std::uint64_t column = std::uint64_t{w.column[e]} * w.block + at % w.block;
      if (row >= w.rows || column >= w.columns) continue;
      const auto of_left = std::span(left).subspan(row * n, n);
      const auto of_right = std::span(right).subspan(column * n, n);
      kernels::Compared one =
          kernels::dot(of_left, of_right.data())
              .compared(row, column, static_cast<double>(found[e * area + at]), rounding);
      one.exact = exact.element(e, at, of_left, of_right);
      into.add(one);
    }
  };
  kernels::Checked checked{{"dW", rounding.type, rounding.partials}};
  checked.lines = w.block_rows();
  checked.compare = [&](std::span<const kernels::Strip> block_rows, kernels::Comparison& into) {
    for (const kernels::Strip& row : block_rows)
      for (std::uint64_t e = w.row_begin[row.line]; e < w.row_begin[row.line + 1]; ++e)
        compare_block(row.line, e, into);
  };
  return kernels::check(checked, {CheckMode::full}, threads);
}

}  // namespace tessera::spmm_dynamic
