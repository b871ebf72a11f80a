#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <span>

#include "kernels/check/comparison.h"
#include "kernels/sparse/code/shape.h"
#include "kernels/sparse/operand/block_matrix.h"
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

/// Rows of a finished Y that lies in equal parts, that of tile t in buffer `first` + t, in order
/// [chunk of `depth` rows][column][row of the chunk].
class StoredRows {
 public:
  StoredRows(const Shape& shape, const kernels::EvenStorage& storage, std::uint64_t columns,
             std::uint32_t depth, const MemoryReader& memory, std::uint32_t first = 0)
      : type_(shape.type),
        storage_(storage),
        columns_(columns),
        depth_(depth),
        memory_(memory),
        first_(first) {}

  void read(std::uint32_t row, std::span<double> into);

 private:
  Type type_;
  kernels::EvenStorage storage_;
  std::uint64_t columns_;
  std::uint32_t depth_;
  const MemoryReader& memory_;
  std::uint32_t first_;
  std::vector<std::byte> bytes_;            ///< of one chunk
  std::uint64_t held_ = ~std::uint64_t{0};  ///< its number
};

/// Writes row `row` of the finished Y[m, n] into n numbers.
using ResultRow = std::function<void(std::uint32_t row, std::span<double> into)>;

/// Compares Y with W X. Above 10 GFLOP `automatic` is `sample`: one row of 64, chosen by the
/// request's seed, and sums with random signs of segments of every row against W (X signs)
/// (kernels/check/signs.h); rows in which something stands out are compared in full. Either way
/// the errors together are judged: their mean (or sum), and their mean square. Y is read by the
/// caller's thread, row after row.
CheckResult check_product(const BlockMatrix& w, const data::DenseOperand& x, const ResultRow& y,
                          const Rounding& rounding, const CheckRequest& request);

/// The same with X[k, n] given row by row. `independent` elements of it are random: as many
/// roundings are, whose mean is then known to be small; 0: they may repeat each other.
CheckResult check_product(const BlockMatrix& w, std::span<const float> x, std::uint32_t n,
                          const ResultRow& y, const Rounding& rounding, const CheckRequest& request,
                          std::uint64_t independent = 0);

}  // namespace tessera::sparse
