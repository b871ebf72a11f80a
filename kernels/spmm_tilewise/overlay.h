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

/// Slots of one worker of the codelet with dual issue: it walks `columns` columns with `elements`
/// elements together, in every panel and every pass of 16 bytes of a vector, and overwrites C or
/// adds to it. Columns of fewer than two elements take fewer.
constexpr std::uint64_t overlay_slots(std::uint64_t panels, std::uint64_t passes,
                                      std::uint64_t columns, std::uint64_t elements, bool adds) {
  if (columns == 0) return 6;
  const std::uint64_t column = adds ? 12 : 10;
  constexpr std::uint64_t kElement = 3;
  return 19 + panels * (4 + passes * (8 + column * columns + kElement * elements));
}

/// The columns of each worker: neighbours of about equal work.
std::vector<gemm::Interval> worker_columns(const OverlayPart& part, std::uint32_t workers);

}  // namespace tessera::spmm_tilewise
