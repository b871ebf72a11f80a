#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/spmm_static/deal.h"

/// How the tiles that share one interval of columns divide the blocks of W.
namespace tessera::spmm_static {

/// The blocks of one block row on one tile: [first, last) in dealing order.
struct RowRun {
  std::uint32_t row;
  std::uint64_t first;
  std::uint64_t last;
};

/// What one tile computes: consecutive blocks of a band.
struct Share {
  std::uint32_t place;  ///< of the tile within its layer
  std::uint64_t first;  ///< block in dealing order
  std::uint64_t last;
  std::vector<RowRun> rows;
  std::vector<std::uint32_t> columns;  ///< block columns that they name, ascending

  [[nodiscard]] std::uint64_t blocks() const { return last - first; }
};

struct Layer {
  std::uint32_t tiles = 0;
  std::vector<Share> shares;  ///< by place; tiles without blocks have none
};

/// Tiles for each band in proportion to its blocks (or its work), at least `grain` and in multiples
/// of it, no more than its blocks need; empty if there are too few tiles.
std::vector<std::uint32_t> tiles_by_band(const std::vector<std::uint64_t>& blocks,
                                         std::uint32_t tiles, std::uint32_t grain);

/// How the blocks of a band are divided over its tiles.
enum class Dealing : std::uint8_t {
  blocks,  ///< equally many each, as published; rows may straddle tiles
  work,    ///< equally much work each; rows may straddle tiles
  rows,    ///< about equally much work each, in whole rows
};

struct DealingRules {
  Dealing dealing = Dealing::blocks;
  std::uint32_t grain = 1;  ///< a band has a multiple of so many tiles
  bool even_rows = false;   ///< rows have even lengths in the deal: none is cut at an odd element
  /// Work of so many blocks of one row, growing with their number; not used to deal `blocks`.
  std::function<std::uint64_t(std::uint64_t blocks)> row_work;
};

/// Deals each band's blocks in order to its tiles; without shares if there are too few tiles.
Layer make_layer(const Deal& deal, std::uint32_t tiles, const DealingRules& rules);

}  // namespace tessera::spmm_static
