#include "kernels/spmm_dynamic/bit_exact.h"
#include "kernels/spmm_dynamic/spmm_dynamic.h"

namespace tessera::spmm_dynamic {

CheckResult SpmmDynamic::check_run(const TensorReader& tensors, const CheckRequest& request,
                                   std::uint32_t run) const {
  HostThreads threads(request.threads);
  const std::vector<float> found = tensors.floats(result_name(run), threads);
  if (problem_.shape.gradient) return check_values(found, run, threads);
  const Shape& shape = problem_.shape;
  const auto rounding = kernels::rounding_of(
      shape.type, shape.partials, shape.mixed() || shape.type != Type::f16 ? 1 : shape.summed(),
      plan_.pool.grid.y);
  return sparse::check_product(patterns_[run], kernels::rows_of(x_, threads), options_.n, found,
                               rounding, request,
                               exact_rows(problem_, plan_.pool, packings_[run], patterns_[run]));
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
