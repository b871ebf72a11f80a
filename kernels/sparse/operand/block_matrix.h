#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/types.h"
#include "sim/data/sparse_matrix.h"

namespace tessera::sparse {

/// A block sparse matrix with square blocks (BSR). Edge blocks are padded with zeros.
struct BlockMatrix {
  std::uint32_t rows = 0;  ///< in elements, without padding
  std::uint32_t columns = 0;
  std::uint32_t block = 1;               ///< side of a block
  std::vector<std::uint64_t> row_begin;  ///< block_rows() + 1 offsets
  std::vector<std::uint32_t> column;     ///< block column of each block, ascending in a row
  std::vector<float> value;              ///< block x block of each block, row-major
  /// Useful elements: those given (whole blocks of a pattern, a file's own entries), never padding.
  std::uint64_t nonzeros = 0;
  std::uint64_t rounded = 0;  ///< values of a file that were rounded to the type

  [[nodiscard]] std::uint32_t block_rows() const { return ceil_div(rows, block); }
  [[nodiscard]] std::uint32_t block_columns() const { return ceil_div(columns, block); }
  [[nodiscard]] std::uint64_t blocks() const { return column.size(); }
  /// Blocks over all possible blocks.
  [[nodiscard]] double kept_share() const {
    return static_cast<double>(blocks()) / (static_cast<double>(block_rows()) * block_columns());
  }
  /// Values of block `e`, row-major.
  [[nodiscard]] std::span<const float> values(std::uint64_t e) const {
    return std::span(value).subspan(e * block * block, std::size_t{block} * block);
  }

  /// Calls visit(block row, number of the block) for each block, in order.
  template <class Visit>
  void for_blocks(const Visit& visit) const {
    for (std::uint32_t row = 0; row < block_rows(); ++row)
      for (std::uint64_t e = row_begin[row]; e < row_begin[row + 1]; ++e) visit(row, e);
  }
  /// Calls visit(row, column, index in `value`) for each element of a block inside the matrix.
  template <class Visit>
  void for_elements(const Visit& visit) const {
    for_blocks([&](std::uint32_t block_row, std::uint64_t e) {
      for (std::uint32_t inside = 0; inside < block * block; ++inside) {
        const std::uint32_t row = block_row * block + inside / block;
        const std::uint32_t at = column[e] * block + inside % block;
        if (row < rows && at < columns) visit(row, at, e * block * block + inside);
      }
    });
  }

  /// Appends a block to the last block row, which end_row() ends.
  void append(std::uint32_t block_column, std::span<const float> of) {
    column.push_back(block_column);
    value.insert(value.end(), of.begin(), of.end());
  }
  /// Appends a block whose element (i, j) of the matrix is at(i, j), also beyond the edges.
  template <class At>
  void append_elements(std::uint32_t block_column, const At& at) {
    const std::uint64_t first_row = std::uint64_t{block} * (row_begin.size() - 1);
    const std::uint64_t first = std::uint64_t{block} * block_column;
    column.push_back(block_column);
    for (std::uint64_t i = first_row; i < first_row + block; ++i)
      for (std::uint64_t j = first; j < first + block; ++j)
        value.push_back(static_cast<float>(at(i, j)));
  }
  void end_row() { row_begin.push_back(column.size()); }
};

/// Number of blocks of side `block` that hold entries of `w`.
std::uint64_t count_blocks(const data::SparseMatrix& w, std::uint32_t block);

/// The nonempty block rows, ascending. Runs in time n log n of their number, not of all rows.
std::vector<std::uint32_t> filled_rows(const BlockMatrix& w);

/// The blocks of side `block` that hold entries of `w`; all entries count as nonzeros.
BlockMatrix to_blocks(const data::SparseMatrix& w, std::uint32_t block);

/// `parts` parts of the block rows of `w`, consecutive and about equal.
std::vector<BlockMatrix> row_parts(const BlockMatrix& w, std::uint32_t parts);

BlockMatrix transposed(const BlockMatrix& w);

/// The share_of(all possible blocks, density) blocks of `w` with the largest L2 norm, the first of
/// equals; all blocks if there are fewer. Their nonzero elements count as nonzeros.
BlockMatrix pruned_to_blocks(const BlockMatrix& w, double density);

}  // namespace tessera::sparse
