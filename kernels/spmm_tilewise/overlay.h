#pragma once

#include <cstdint>
#include <vector>

#include "kernels/gemm/shape.h"
#include "kernels/spmm_tilewise/pattern.h"

/// The overlay of method tew on one group's columns: single elements that workers add to C one
/// after the other, from rows of A^T that are gathered for them.
namespace tessera::spmm_tilewise {

struct OverlayPart {
  std::vector<std::uint32_t> rows;   ///< of W that it names, ascending
  std::vector<std::uint32_t> begin;  ///< of each column's elements, and the end
  std::vector<std::uint32_t> row;    ///< of each element, by column: where in `rows`

  [[nodiscard]] bool empty() const { return row.empty(); }
};

/// The elements in columns [columns.begin, columns.end) of a tile of the pattern, but for those of
/// `whole_rows` (ascending), which go through the matrix unit.
OverlayPart overlay_part(const TilePattern& pattern, const ColumnTile& tile, gemm::Interval columns,
                         const std::vector<std::uint32_t>& whole_rows);

/// Elements of each of `rows` rows of W in the columns of a tile.
std::vector<std::uint32_t> singles_by_row(const TilePattern& pattern, const ColumnTile& tile,
                                          std::uint32_t rows);

/// What the codelet takes, in cycles of a tile all of whose workers do the same: once, and in each
/// panel for the panel itself, each column and each element of a worker.
struct OverlayWork {
  double once = 0;
  double panel = 0;
  double column = 0;
  double element = 0;

  /// Of a panel.
  [[nodiscard]] double cycles(double columns, double elements) const {
    return columns > 0 ? panel + columns * column + elements * element : 0;
  }
};

/// The columns of each worker: neighbours of about equal work.
std::vector<gemm::Interval> worker_columns(const OverlayPart& part, const OverlayWork& work,
                                           std::uint32_t workers);

}  // namespace tessera::spmm_tilewise
