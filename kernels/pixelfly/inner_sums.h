#pragma once

#include <vector>

#include "kernels/layout.h"
#include "kernels/sparse/check.h"
#include "sim/base/parallel.h"
#include "sim/data/dense_operand.h"

/// What checks need of the low-rank products that come first.
namespace tessera::pixelfly {

/// Some columns of the first `rows` rows of `operand`; zeros behind its last.
std::vector<float> values_of(const data::DenseOperand& operand, std::uint64_t rows,
                             kernels::Interval columns, HostThreads& threads);
/// All of them.
std::vector<float> values_of(const data::DenseOperand& operand, std::uint64_t rows,
                             HostThreads& threads);

/// An element of R^T D, and how far the machine's may be, and is likely to be, off.
struct InnerSum {
  double value, allowed, likely;
};
/// R^T D row by row, for D of n columns.
std::vector<InnerSum> inner_sums(const data::DenseOperand& right, const std::vector<float>& dense,
                                 std::size_t n, const sparse::Rounding& rounding,
                                 HostThreads& threads);

}  // namespace tessera::pixelfly
