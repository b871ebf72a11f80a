#include "kernels/pixelfly/inner_sums.h"

namespace tessera::pixelfly {

std::vector<float> values_of(const data::DenseOperand& operand, std::uint64_t rows) {
  std::vector<float> values(rows * operand.columns());
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(operand.element(i / operand.columns(), i % operand.columns()));
  return values;
}

std::vector<InnerSum> inner_sums(const data::DenseOperand& right, const std::vector<float>& dense,
                                 std::size_t n, const sparse::Rounding& rounding) {
  std::vector<InnerSum> inner;
  for (std::uint32_t q = 0; q < right.columns(); ++q) {
    std::vector<sparse::ExactSum> sums(n);
    for (std::uint32_t j = 0; j < right.rows(); ++j) {
      const double factor = right.element(j, q);
      for (std::size_t c = 0; c < n; ++c)
        sums[c].add(factor * static_cast<double>(dense[j * n + c]));
    }
    for (const sparse::ExactSum& sum : sums) {
      const kernels::Compared compared = sum.compared(0, 0, 0, rounding);
      inner.push_back({compared.expected, compared.allowed, sum.likely_error(rounding)});
    }
  }
  return inner;
}

}  // namespace tessera::pixelfly
