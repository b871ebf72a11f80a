#include "kernels/sparse/check.h"

#include <algorithm>
#include <cmath>

#include "kernels/spmm_dynamic/spmm_dynamic.h"
#include "sim/base/parallel.h"
#include "sim/data/element.h"

namespace tessera::spmm_dynamic {

namespace {

/// Element after element of a row of a matrix, in double.
std::vector<double> rows_of(const data::DenseOperand& operand) {
  std::vector<double> values(operand.rows() * operand.columns());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = operand.element(i / operand.columns(), i % operand.columns());
  }
  return values;
}

}  // namespace

/// Reads finished parts from the tiles.
class Results {
 public:
  Results(const SpmmDynamic& workload, const MemoryReader& memory)
      : workload_(workload),
        memory_(memory),
        grid_(workload.plan_.pool.grid),
        bytes_(workload.problem_, workload.plan_.pool) {}

  /// All results of the cells that share a sum: (x, z), in pass grad_values (x, y).
  [[nodiscard]] std::vector<double> read(std::uint32_t x, std::uint32_t other) const {
    const bool values = workload_.problem_.shape.gradient;
    const Type type = workload_.problem_.shape.type;
    std::vector<double> all;
    const std::uint32_t per_chunk = kChunkBytes / workload_.problem_.shape.partial_bytes();
    all.reserve(std::size_t{per_chunk} * bytes_.chunks);
    for (std::uint32_t part = 0; part < bytes_.parts; ++part) {
      const std::uint64_t chunks = bytes_.share(part, part).size();
      if (chunks == 0) continue;
      std::vector<std::byte> bytes(chunks * per_chunk * data::element_bytes(type));
      const program::BufferId buffer =
          values ? result_buffer(grid_, x, other, part) : result_buffer(grid_, x, part, other);
      memory_.read({buffer, 0}, bytes);
      for (std::size_t i = 0; i < chunks * per_chunk; ++i)
        all.push_back(data::load_element(type, bytes, i));
    }
    return all;
  }

  /// One row of Y; rows of one part after the other cost least.
  void row(std::uint32_t row, std::span<double> into) {
    const Shape& shape = workload_.problem_.shape;
    const EvenSplit split{workload_.problem_.block_rows, grid_.x};
    const auto x = static_cast<std::uint32_t>(split.holder(row / shape.block));
    if (parts_.empty() || x != x_) {
      parts_.clear();
      for (std::uint32_t z = 0; z < grid_.z; ++z) parts_.push_back(read(x, z));
      x_ = x;
    }
    const auto first = static_cast<std::uint32_t>(split.begin(x)) * shape.block;
    const std::uint64_t depth = shape.y_depth();
    const std::uint64_t at = (row - first) / depth * grid_.columns;
    for (std::uint32_t j = 0; j < into.size(); ++j)
      into[j] = parts_[j / grid_.columns][(at + j % grid_.columns) * depth + (row - first) % depth];
  }

 private:
  const SpmmDynamic& workload_;
  const MemoryReader& memory_;
  const Grid& grid_;
  const Buffers bytes_;
  std::uint32_t x_ = 0;
  std::vector<std::vector<double>> parts_;  ///< of part x_ of the rows, by z
};

CheckResult SpmmDynamic::check_run(const TensorReader& tensors, const CheckRequest& request,
                                   std::uint32_t run) const {
  const MemoryReader& memory = tensors.memory();
  if (problem_.shape.gradient) return check_values(memory, request, run);
  const Shape& shape = problem_.shape;
  const Grid& grid = plan_.pool.grid;
  Results results(*this, memory);
  sparse::StoredRows rows(shape, row_storage(problem_, grid, problem_.block_rows),
                          std::uint64_t{grid.columns} * grid.z, 1, memory);
  const auto rounding = sparse::rounding_of(
      shape.type, shape.partials, shape.mixed() || shape.type != Type::f16 ? 1 : shape.summed(),
      plan_.pool.grid.y);
  return sparse::check_product(
      patterns_[run], x_,
      [&](std::uint32_t row, std::span<double> into) {
        shape.natural() ? rows.read(row, into) : results.row(row, into);
      },
      rounding, request);
}

/// Every element of every block inside W.
CheckResult SpmmDynamic::check_values(const MemoryReader& memory, const CheckRequest& request,
                                      std::uint32_t run) const {
  if (request.mode == CheckMode::off) return {true, 0, 0, "off"};
  const sparse::BlockMatrix& w = patterns_[run];
  const PoolShape& shape = plan_.pool;
  const Results results(*this, memory);
  const auto rounding = sparse::rounding_of(options_.weights.dtype, Type::f32, 1, shape.grid.z + 1);
  const std::vector<double> left = rows_of(yg_);
  const std::vector<double> right = rows_of(x_);
  kernels::Comparison comparison({"dW", rounding.type, rounding.partials, false});
  const auto compare_pool = [&](std::uint32_t number, const std::vector<double>& found,
                                kernels::Comparison& into) {
    std::uint64_t block_row = 0;
    for_each_unit(shape, packings_[run].pools[number], [&](std::uint32_t unit, std::uint64_t e) {
      while (w.row_begin[block_row] > e) block_row = 0;
      while (w.row_begin[block_row + 1] <= e) ++block_row;
      for (std::uint32_t at = 0; at < w.block * w.block; ++at) {
        const std::uint64_t row = block_row * w.block + at / w.block;
        const std::uint64_t column = std::uint64_t{w.column[e]} * w.block + at % w.block;
        if (row >= w.rows || column >= w.columns) continue;
        sparse::ExactSum sum;
        for (std::size_t j = 0; j < options_.n; ++j)
          sum.add(left[row * options_.n + j] * right[column * options_.n + j]);
        into.add(
            sum.compared(row, column, found[std::size_t{unit} * w.block * w.block + at], rounding));
      }
    });
  };
  // Some are read, then compared by all threads.
  constexpr std::uint32_t kBatch = 64;
  HostThreads threads(request.threads);
  for (std::uint32_t first = 0; first < shape.grid.partitions(); first += kBatch) {
    const std::uint32_t count = std::min(kBatch, shape.grid.partitions() - first);
    std::vector<std::vector<double>> found;
    for (std::uint32_t i = first; i < first + count; ++i)
      found.push_back(results.read(i % shape.grid.x, i / shape.grid.x));
    std::vector<kernels::Comparison> pieces(count, comparison.fresh());
    threads.for_ranges(count, 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        compare_pool(first + static_cast<std::uint32_t>(i), found[i], pieces[i]);
    });
    for (const kernels::Comparison& piece : pieces) comparison.merge(piece);
  }
  comparison.judge_all(x_.seeded() && yg_.seeded() ? left.size() + right.size() : 0);
  return comparison.result("full");
}

}  // namespace tessera::spmm_dynamic
