#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kernels/check/ordered_sums.h"
#include "kernels/check/product.h"
#include "kernels/sparse/code/shape.h"
#include "kernels/sparse/operand/block_matrix.h"

/// Checks of products with sparse matrices, W X and A B^T at the positions of blocks, with
/// bit-exact references for a plan's order of summation.
namespace tessera::sparse {

/// Sets `terms` to the elements of a row of W inside its blocks.
void read_row(const BlockMatrix& w, std::uint64_t row, std::vector<kernels::Term>& terms);

/// X[k, n], row-major.
struct DenseRows {
  std::span<const float> values;
  std::uint32_t n;
};

/// Block numbers of each partial sum of a block row, in the order of summation on a tile.
using PartialSums = std::vector<std::vector<std::uint64_t>>;

/// The order in which the tiles of a plan sum W X.
struct SumOrder {
  struct Columns {
    std::uint32_t begin, end;  ///< columns of X and Y
    std::size_t kind;
  };
  std::vector<Columns> columns;
  std::vector<std::vector<PartialSums>> rows;  ///< by kind of columns, then block row
  /// Index of the partial sum to which the others are added in order; absent: the first.
  std::function<std::size_t(std::uint32_t row, std::uint32_t column)> own = {};
};
/// The bit-exact reference of W X. W must outlive it.
kernels::ExactRow exact_row(const BlockMatrix& w, const DenseRows& x, const Shape& shape,
                            SumOrder order);

/// Compares Y[m, n], row-major, with W X. If not all rows are compared, compares one of 64, sums
/// with random signs of segments of every row, and whole rows in which a sum stands out.
CheckResult check_product(const BlockMatrix& w, const DenseRows& x, std::span<const float> y,
                          const kernels::Rounding& rounding, const CheckRequest& request,
                          const kernels::ExactRow& exact);

/// Blocks of A B^T, for A[m, n] and B[k, n], as computed by a machine.
struct SampledProduct {
  /// Row and column of a block's first element.
  struct Corner {
    std::uint64_t row, column;
  };
  const char* name;
  kernels::Rounding rounding;
  std::uint32_t side;   ///< rows and columns of a block
  std::uint32_t depth;  ///< products that the matrix unit sums at once; 0: vector code
  std::uint64_t n;
  std::uint64_t blocks;
  std::function<Corner(std::uint64_t block)> corner = {};
  /// A row of A or of B; null: the row is padding.
  std::function<const float*(std::uint64_t row)> left = {}, right = {};
  /// Computed element `at` of a block, row-major.
  std::function<float(std::uint64_t block, std::uint32_t at)> found = {};
  std::vector<Interval> columns = {};  ///< columns of A and B of each partial sum
  /// As SumOrder::own.
  std::function<std::size_t(std::uint64_t block, std::uint32_t at)> own = {};
  /// Further operations on a block's elements; absent: none.
  std::function<void(std::uint64_t block, kernels::Compared& one)> then = {};
  std::vector<std::uint64_t> sample = {};  ///< blocks that are compared if not all are
  std::uint64_t flops = 0;                 ///< as kernels::Checked's
};
CheckResult check_sampled(const SampledProduct& product, const CheckRequest& request,
                          HostThreads& threads);

}  // namespace tessera::sparse
