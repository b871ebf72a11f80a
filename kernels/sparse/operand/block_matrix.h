#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/types.h"
#include "sim/data/sparse_matrix.h"

namespace tessera::sparse {

/// A sparse matrix of square blocks by block rows (BSR). Edge blocks are padded with zeros.
struct BlockMatrix {
  std::uint32_t rows = 0;  ///< in elements, without padding
  std::uint32_t columns = 0;
  std::uint32_t block = 1;               ///< side of a block
  std::vector<std::uint64_t> row_begin;  ///< block_rows() + 1 offsets
  std::vector<std::uint32_t> column;     ///< block column of each block, ascending in a row
  std::vector<float> value;              ///< block x block of each block, row-major
  /// Elements that count as useful: those given (a pattern's blocks whole, a file's own entries),
  /// never padding.
  std::uint64_t nonzeros = 0;
  std::uint64_t rounded = 0;  ///< values of a file that the type does not have

  [[nodiscard]] std::uint32_t block_rows() const { return ceil_div(rows, block); }
  [[nodiscard]] std::uint32_t block_columns() const { return ceil_div(columns, block); }
  [[nodiscard]] std::uint64_t blocks() const { return column.size(); }
  /// Blocks over all places where one may be.
  [[nodiscard]] double kept_share() const {
    return static_cast<double>(blocks()) / (static_cast<double>(block_rows()) * block_columns());
  }
  /// Values of block `e`, row after row.
  [[nodiscard]] std::span<const float> values(std::uint64_t e) const {
    return std::span(value).subspan(e * block * block, std::size_t{block} * block);
  }
};

/// How many blocks of side `block` hold entries of `w`.
std::uint64_t count_blocks(const data::SparseMatrix& w, std::uint32_t block);

/// The block rows that hold blocks, ascending. The work grows with their number (times its
/// logarithm), not with that of all rows.
std::vector<std::uint32_t> filled_rows(const BlockMatrix& w);

/// The blocks of side `block` that hold entries of `w`; all entries count as nonzeros.
BlockMatrix to_blocks(const data::SparseMatrix& w, std::uint32_t block);

/// So many parts of the block rows of `w`, one below the other, about equally many each.
std::vector<BlockMatrix> row_parts(const BlockMatrix& w, std::uint32_t parts);

/// W^T: blocks and their values transposed.
BlockMatrix transposed(const BlockMatrix& w);

/// The share_of(all places of blocks, density) blocks of `w` of the largest L2 norm, the first of
/// equal ones; all if there are fewer. Their elements that are not zero count as nonzeros.
BlockMatrix pruned_to_blocks(const BlockMatrix& w, double density);

}  // namespace tessera::sparse
