#pragma once

#include <span>
#include <vector>

#include "kernels/check/signs.h"
#include "kernels/sparse/operand/block_matrix.h"
#include "kernels/sparse/rounding.h"
#include "sim/base/parallel.h"

namespace tessera::sparse {

/// W[m, k] X[k, n], and how its sums are rounded.
struct Product {
  const BlockMatrix& w;
  std::span<const float> x;
  std::size_t n;
  const Rounding& rounding;

  [[nodiscard]] std::span<const float> x_row(std::uint32_t row) const {
    return x.subspan(std::size_t{row} * n, n);
  }
};

/// Elements of block row `row / block` in row `row`: calls visit(column, value).
template <class Visit>
void visit_row(const BlockMatrix& w, std::uint32_t row, const Visit& visit) {
  const std::uint32_t block_row = row / w.block;
  for (std::uint64_t e = w.row_begin[block_row]; e < w.row_begin[block_row + 1]; ++e) {
    const auto values = w.values(e).subspan(std::size_t{row % w.block} * w.block, w.block);
    for (std::uint32_t i = 0; i < w.block; ++i) {
      const std::uint32_t column = w.column[e] * w.block + i;
      if (column < w.columns) visit(column, static_cast<double>(values[i]));
    }
  }
}

/// Y s against W (X s) for random signs s.
class RowSums {
 public:
  static constexpr std::size_t kGrain = 32;  ///< rows that a thread takes

  RowSums(const Product& product, const kernels::SignVectors& signs, HostThreads& threads);

  /// Rows of Y from `first` on as they were found, one after the other.
  void look(std::uint32_t first, std::span<const float> found, kernels::Screen& screen) const;

 private:
  [[nodiscard]] kernels::MatrixView view(std::span<const float> rows) const {
    return {rows.data(), product_.n, 1};
  }
  void add_squares(std::size_t row);
  void look_at_row(std::uint32_t row, std::span<double> errors, kernels::Screen& screen) const;

  const Product& product_;
  const kernels::SignVectors& signs_;
  kernels::SignedSums<double> of_rows_;
  std::vector<double> x_sums_;     ///< of X's rows, [row][sum]
  std::vector<double> x_squares_;  ///< of their elements, [row][segment]
};

}  // namespace tessera::sparse
