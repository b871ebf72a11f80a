#pragma once

#include <cstdint>
#include <vector>

#include "kernels/sparse/code/shape.h"
#include "kernels/sparse/operand/block_matrix.h"

/// The order in which the blocks of W are dealt to tiles: band after band of its block columns, row
/// after row within a band, column after column within a row.
namespace tessera::spmm_static {

/// Block columns of W in bands of about equally many blocks. Bands without blocks are left out.
struct Bands {
  std::vector<std::uint32_t> column;  ///< bands + 1 boundaries in block columns
  std::vector<std::uint64_t> blocks;  ///< of each band

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(blocks.size()); }
};

/// Blocks in each block column of W.
std::vector<std::uint32_t> blocks_by_column(const sparse::BlockMatrix& w);

/// Up to `wanted` bands: each takes columns until it has its equal part of the blocks.
Bands cut_bands(const std::vector<std::uint32_t>& by_column, std::uint32_t wanted);

/// Blocks in dealing order.
struct Deal {
  Bands bands;
  std::vector<std::uint64_t> band_begin;  ///< bands + 1: first block of each
  std::vector<std::uint32_t> row;         ///< block row of each block
  std::vector<std::uint32_t> column;
  std::vector<std::uint64_t> source;  ///< its number in W
  /// Elements that stand before each block in the values of W as dealt; blocks + 1 of them.
  std::vector<std::uint64_t> value_begin;

  [[nodiscard]] std::uint64_t blocks() const { return row.size(); }
};

/// `even_rows`: values of each row of a band begin at an even element (pairs of f16 are loaded at
/// once).
Deal deal_blocks(const sparse::BlockMatrix& w, Bands bands, bool even_rows);

/// Values [first, ...) of W as dealt, each block in the order of the weight store.
void fill_values(const Deal& deal, const sparse::BlockMatrix& w, const sparse::Shape& shape,
                 std::uint64_t first, std::span<std::byte> into);

}  // namespace tessera::spmm_static
