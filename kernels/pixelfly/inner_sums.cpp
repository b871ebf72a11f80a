#include "kernels/pixelfly/inner_sums.h"

namespace tessera::pixelfly {

std::vector<float> values_of(const data::DenseOperand& operand, std::uint64_t rows,
                             kernels::Interval columns, HostThreads& threads) {
  std::vector<float> values(rows * columns.size());
  threads.for_ranges(rows, 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row)
      for (std::uint64_t c = 0; c < columns.size(); ++c)
        values[row * columns.size() + c] =
            static_cast<float>(operand.element(row, columns.begin + c));
  });
  return values;
}

std::vector<float> values_of(const data::DenseOperand& operand, std::uint64_t rows,
                             HostThreads& threads) {
  return values_of(operand, rows, {0, operand.columns()}, threads);
}

std::vector<InnerSum> inner_sums(const data::DenseOperand& right, const std::vector<float>& dense,
                                 std::size_t n, const sparse::Rounding& rounding,
                                 HostThreads& threads) {
  std::vector<InnerSum> inner(right.columns() * n);
  threads.for_ranges(right.columns(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t q = begin; q < end; ++q) {
      std::vector<sparse::ExactSum> sums(n);
      for (std::uint64_t j = 0; j < right.rows(); ++j) {
        const double factor = right.element(j, q);
        for (std::size_t c = 0; c < n; ++c)
          sums[c].add(factor * static_cast<double>(dense[j * n + c]));
      }
      for (std::size_t c = 0; c < n; ++c) {
        const kernels::Compared compared = sums[c].compared(0, 0, 0, rounding);
        inner[q * n + c] = {compared.expected, compared.allowed, sums[c].likely_error(rounding)};
      }
    }
  });
  return inner;
}

}  // namespace tessera::pixelfly
