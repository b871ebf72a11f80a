#include "kernels/sparse/check.h"

#include "kernels/spmm_dynamic/replay.h"
#include "kernels/spmm_dynamic/spmm_dynamic.h"
#include "sim/base/parallel.h"

namespace tessera::spmm_dynamic {

namespace {

/// Row after row.
std::vector<float> rows_of(const data::DenseOperand& operand) {
  const std::uint64_t n = operand.columns();
  std::vector<float> values(operand.rows() * n);
  for (std::uint64_t row = 0; row < operand.rows(); ++row)
    operand.read_row(row, std::span(values).subspan(row * n, n));
  return values;
}

}  // namespace

CheckResult SpmmDynamic::check_run(const TensorReader& tensors, const CheckRequest& request,
                                   std::uint32_t run) const {
  if (request.mode == CheckMode::off) return {true, 0, 0, "off"};
  HostThreads threads(request.threads);
  const std::vector<float> found = tensors.floats(result_name(run), threads);
  if (problem_.shape.gradient) return check_values(found, run, threads);
  const Shape& shape = problem_.shape;
  const auto rounding = sparse::rounding_of(
      shape.type, shape.partials, shape.mixed() || shape.type != Type::f16 ? 1 : shape.summed(),
      plan_.pool.grid.y);
  return sparse::check_product(patterns_[run], x_, found, rounding, request,
                               replay_of(problem_, plan_.pool, packings_[run], patterns_[run]));
}

/// Every element of every block inside W; `found` block after block.
CheckResult SpmmDynamic::check_values(std::span<const float> found, std::uint32_t run,
                                      HostThreads& threads) const {
  const sparse::BlockMatrix& w = patterns_[run];
  const std::uint32_t area = w.block * w.block;
  const std::size_t n = options_.n;
  const auto rounding =
      sparse::rounding_of(options_.weights.dtype, Type::f32, 1, plan_.pool.grid.z + 1);
  const std::vector<float> left = rows_of(yg_);
  const std::vector<float> right = rows_of(x_);
  const ValueReplay replay(problem_, plan_.pool, packings_[run], w);
  const auto compare_block = [&](std::uint64_t block_row, std::uint64_t e,
                                 kernels::Comparison& into) {
    for (std::uint32_t at = 0; at < area; ++at) {
      const std::uint64_t row = block_row * w.block + at / w.block;
      const std::uint64_t column = std::uint64_t{w.column[e]} * w.block + at % w.block;
      if (row >= w.rows || column >= w.columns) continue;
      const auto of_left = std::span(left).subspan(row * n, n);
      const auto of_right = std::span(right).subspan(column * n, n);
      sparse::ExactSum sum;
      for (std::size_t j = 0; j < n; ++j)
        sum.add(static_cast<double>(of_left[j]) * static_cast<double>(of_right[j]));
      kernels::Compared one =
          sum.compared(row, column, static_cast<double>(found[e * area + at]), rounding);
      one.exact = replay.element(e, at, of_left, of_right);
      into.add(one);
    }
  };
  kernels::Comparison comparison({"dW", rounding.type, rounding.partials, false});
  std::vector<kernels::Comparison> pieces(w.block_rows(), comparison.fresh());
  threads.for_ranges(w.block_rows(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row)
      for (std::uint64_t e = w.row_begin[row]; e < w.row_begin[row + 1]; ++e)
        compare_block(row, e, pieces[row]);
  });
  for (const kernels::Comparison& piece : pieces) comparison.merge(piece);
  return comparison.result("full");
}

}  // namespace tessera::spmm_dynamic
