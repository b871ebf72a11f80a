#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "kernels/check/comparison.h"
#include "kernels/sparse/code/shape.h"
#include "kernels/sparse/operand/block_matrix.h"
#include "kernels/sparse/replay.h"
#include "kernels/sparse/rounding.h"
#include "sim/data/dense_operand.h"
#include "sim/program/workload.h"

/// Compares a sparse product with the plain one in double; max_error is the largest error over what
/// is allowed (rounding.h), so its bound is 1.
namespace tessera::sparse {

/// A result as it should be, and how far a rounded one may be off.
class ExactSum {
 public:
  void add(double product) {
    value_ += product;
    magnitudes_ += std::abs(product);
    squares_ += product * product;
    ++products_;
  }
  [[nodiscard]] kernels::Compared compared(std::uint64_t row, std::uint64_t column, double found,
                                           const Rounding& rounding) const;
  /// Eight standard deviations of the roundings alone, even if they cannot come to so much: for
  /// sums of several such errors.
  [[nodiscard]] double likely_error(const Rounding& rounding) const;

 private:
  double value_ = 0;
  double magnitudes_ = 0;
  double squares_ = 0;
  std::uint64_t products_ = 0;
};

/// Compares Y with W X. Above 10 GFLOP `automatic` is `sample`: one row of 64, chosen by the
/// request's seed, and sums with random signs of segments of every row against W (X signs)
/// (kernels/check/signs.h); rows in which something stands out are compared in full. Rows that are
/// compared must equal those of the replay to the bit, so a common bias or noise is found in them
/// whatever the data. `y` is Y[m, n], row after row.
CheckResult check_product(const BlockMatrix& w, const data::DenseOperand& x,
                          std::span<const float> y, const Rounding& rounding,
                          const CheckRequest& request, const RowReplay& replay);

/// The same with X[k, n] given row by row.
CheckResult check_product(const BlockMatrix& w, std::span<const float> x, std::uint32_t n,
                          std::span<const float> y, const Rounding& rounding,
                          const CheckRequest& request, const RowReplay& replay);

}  // namespace tessera::sparse
