#include "kernels/spmm_tilewise/overlay.h"

#include <algorithm>

namespace tessera::spmm_tilewise {

OverlayPart overlay_part(const TilePattern& pattern, const ColumnTile& tile,
                         gemm::Interval columns) {
  OverlayPart part{{}, {0}, {}};
  for (std::uint64_t c = columns.begin; c < columns.end; ++c) {
    const std::uint32_t column = tile.columns[c];
    auto single = std::lower_bound(
        pattern.overlay.begin(), pattern.overlay.end(), column,
        [](const Single& element, std::uint32_t wanted) { return element.column < wanted; });
    for (; single != pattern.overlay.end() && single->column == column; ++single) {
      part.row.push_back(single->row);
    }
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
