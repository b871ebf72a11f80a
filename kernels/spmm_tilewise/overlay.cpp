#include "kernels/spmm_tilewise/overlay.h"

#include <algorithm>

#include "kernels/spmm_tilewise/steps.h"

namespace tessera::spmm_tilewise {

namespace {

constexpr std::uint32_t kPass = 16;

/// Bytes of a vector that the tile code takes at once.
std::uint32_t pass_of(const Problem& problem) { return std::min(problem.vector_bytes(), kPass); }

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

std::vector<gemm::Interval> worker_columns(const OverlayPart& part, const OverlayWork& work,
                                           std::uint32_t workers) {
  const std::uint64_t columns = part.begin.size() - 1;
  const auto work_before = [&](std::uint64_t c) {
    return work.cycles(static_cast<double>(c), part.begin[c]);
  };
  std::vector<gemm::Interval> shares;
  std::uint64_t at = 0;
  for (std::uint32_t worker = 0; worker < workers; ++worker) {
    const std::uint64_t first = at;
    const double target = work_before(columns) * (worker + 1) / workers;
    while (at < columns && (worker + 1 == workers || work_before(at + 1) <= target)) ++at;
    shares.push_back({first, at});
  }
  return shares;
}

std::vector<std::uint16_t> overlay_list(const Problem& problem, const OverlayPart& part) {
  std::vector<std::uint16_t> list;
  for (std::size_t c = 0; c + 1 < part.begin.size(); ++c) {
    list.push_back(static_cast<std::uint16_t>(part.begin[c + 1] - part.begin[c]));
    for (std::uint32_t e = part.begin[c]; e < part.begin[c + 1]; ++e)
      list.push_back(static_cast<std::uint16_t>(part.row[e] * (problem.vector_bytes() / 8)));
  }
  return list;
}

std::string overlay_codelet(const Problem& problem, bool adds) {
  return fmt::format("{}overlay_{}{}", pass_of(problem) < kPass ? "narrow_" : "",
                     adds ? "add_" : "", problem.block.input == program::Type::f16 ? "f16" : "f32");
}

program::Vertex overlay_product(sparse::Assembly& assembly, const Problem& problem, TileId tile,
                                const OverlayPart& part, const OverlayWork& work,
                                std::uint64_t panels, bool adds, const OverlayBuffers& buffers) {
  const std::uint32_t vector = problem.vector_bytes();
  std::vector<program::Argument> arguments{Place{buffers.a},
                                           Place{buffers.result},
                                           word(panels),
                                           vector / pass_of(problem),
                                           word((part.rows.size() - 1) * vector),
                                           word((part.begin.size() - 2) * vector),
                                           vector,
                                           0U};
  for (const gemm::Interval& mine : worker_columns(part, work, assembly.contexts())) {
    const bool none = mine.size() == 0;
    const std::uint64_t first = none ? 0 : part.begin[mine.begin];
    arguments.emplace_back(Place{buffers.list, none ? 0 : word(2 * (first + mine.begin))});
    arguments.emplace_back(Place{buffers.values, word(first * problem.block.input_bytes)});
    arguments.emplace_back(word(mine.size()));
    arguments.emplace_back(none ? 0U : word(mine.begin * vector));
  }
  return {tile, assembly.codelet(overlay_codelet(problem, adds)), program::Executor::all_workers, 0,
          std::move(arguments)};
}

}  // namespace tessera::spmm_tilewise
