#include "kernels/spmm_tilewise/overlay.h"

#include <algorithm>

namespace tessera::spmm_tilewise {

namespace {

/// Calls visit(row) for each element of a column.
template <class Visit>
void for_singles(const TilePattern& pattern, std::uint32_t column, const Visit& visit) {
  auto single = std::lower_bound(
      pattern.overlay.begin(), pattern.overlay.end(), column,
      [](const Single& element, std::uint32_t wanted) { return element.column < wanted; });
  for (; single != pattern.overlay.end() && single->column == column; ++single) visit(single->row);
}

}  // namespace

std::vector<std::uint32_t> singles_by_row(const TilePattern& pattern, const ColumnTile& tile,
                                          std::uint32_t rows) {
  std::vector<std::uint32_t> singles(rows, 0);
  for (const std::uint32_t column : tile.columns)
    for_singles(pattern, column, [&](std::uint32_t row) { ++singles[row]; });
  return singles;
}

OverlayPart overlay_part(const TilePattern& pattern, const ColumnTile& tile, gemm::Interval columns,
                         const std::vector<std::uint32_t>& whole_rows) {
  OverlayPart part{{}, {0}, {}};
  for (std::uint64_t c = columns.begin; c < columns.end; ++c) {
    for_singles(pattern, tile.columns[c], [&](std::uint32_t row) {
      if (!std::binary_search(whole_rows.begin(), whole_rows.end(), row)) part.row.push_back(row);
    });
    part.begin.push_back(static_cast<std::uint32_t>(part.row.size()));
  }
  part.rows = part.row;
  std::sort(part.rows.begin(), part.rows.end());
  part.rows.erase(std::unique(part.rows.begin(), part.rows.end()), part.rows.end());
  for (std::uint32_t& row : part.row) {
    const auto at = std::lower_bound(part.rows.begin(), part.rows.end(), row);
    row = static_cast<std::uint32_t>(at - part.rows.begin());
  }
  return part;
}

std::vector<gemm::Interval> worker_columns(const OverlayPart& part, std::uint32_t workers) {
  const std::uint64_t columns = part.begin.size() - 1;
  const auto work_before = [&](std::uint64_t c) {
    return c == 0 ? 0 : overlay_slots(1, 1, c, part.begin[c], true);
  };
  std::vector<gemm::Interval> shares;
  std::uint64_t at = 0;
  for (std::uint32_t worker = 0; worker < workers; ++worker) {
    const std::uint64_t first = at;
    const std::uint64_t target = work_before(columns) * (worker + 1) / workers;
    while (at < columns && (worker + 1 == workers || work_before(at + 1) <= target)) ++at;
    shares.push_back({first, at});
  }
  return shares;
}

}  // namespace tessera::spmm_tilewise
