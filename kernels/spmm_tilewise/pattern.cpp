#include "kernels/spmm_tilewise/pattern.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/sparse/operand/pattern.h"
#include "sim/base/types.h"

namespace tessera::spmm_tilewise {

namespace {

double square(float value) { return static_cast<double>(value) * static_cast<double>(value); }

/// Numbers of the `wanted` largest scores, ascending; of equal ones the first.
std::vector<std::uint32_t> largest(const std::vector<double>& scores, std::uint64_t wanted) {
  const std::vector<bool> kept = sparse::largest(scores, wanted);
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < kept.size(); ++i)
    if (kept[i]) numbers.push_back(i);
  return numbers;
}

std::vector<double> column_scores(const DenseWeights& w) {
  std::vector<double> scores(w.columns);
  for (std::uint32_t k = 0; k < w.rows; ++k)
    for (std::uint32_t n = 0; n < w.columns; ++n) scores[n] += square(w.at(k, n));
  for (double& score : scores) score = std::sqrt(score) / w.rows;
  return scores;
}

std::vector<double> row_scores(const DenseWeights& w, const ColumnTile& tile) {
  std::vector<double> scores(w.rows);
  for (std::uint32_t k = 0; k < w.rows; ++k) {
    for (const std::uint32_t n : tile.columns) scores[k] += square(w.at(k, n));
    scores[k] = std::sqrt(scores[k] / static_cast<double>(tile.columns.size()));
  }
  return scores;
}

std::vector<ColumnTile> tiles_of(const std::vector<std::uint32_t>& columns,
                                 std::uint32_t granularity) {
  std::vector<ColumnTile> tiles;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i % granularity == 0) tiles.emplace_back();
    tiles.back().columns.push_back(columns[i]);
  }
  return tiles;
}

/// Keeps the rows of the largest scores over all tiles until they hold `elements`.
void keep_rows_of_all(const DenseWeights& w, std::uint64_t elements,
                      std::vector<ColumnTile>& tiles) {
  std::vector<double> scores;  // by tile, then row
  for (const ColumnTile& tile : tiles) {
    const std::vector<double> its = row_scores(w, tile);
    scores.insert(scores.end(), its.begin(), its.end());
  }
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  std::uint64_t kept = 0;
  for (auto row = order.begin(); row != order.end() && kept < elements; ++row) {
    ColumnTile& tile = tiles[*row / w.rows];
    kept += tile.columns.size();
    tile.rows.push_back(static_cast<std::uint32_t>(*row % w.rows));
  }
  for (ColumnTile& tile : tiles) std::sort(tile.rows.begin(), tile.rows.end());
}

/// The largest elements among those that the tiles do not keep.
std::vector<Single> overlay(const DenseWeights& w, const TilePattern& tiles, std::uint64_t wanted) {
  std::vector<double> scores(w.value.size());  // by column, then row
  for (std::uint64_t n = 0; n < w.columns; ++n)
    for (std::uint64_t k = 0; k < w.rows; ++k)
      scores[n * w.rows + k] = std::abs(static_cast<double>(w.at(k, n)));
  tiles.for_kept(
      [&](std::uint64_t row, std::uint64_t column) { scores[column * w.rows + row] = -1; });
  std::vector<Single> singles;
  for (const std::uint32_t i : largest(scores, std::min(scores.size() - tiles.kept(), wanted)))
    singles.push_back({i % w.rows, i / w.rows});
  return singles;
}

/// Tiles of the pruned columns that have elements given back.
std::vector<ColumnTile> overlay_tiles(const TilePattern& pattern, std::uint32_t columns,
                                      std::uint32_t granularity) {
  std::vector<bool> kept(columns, false);
  for (const ColumnTile& tile : pattern.tiles)
    for (const std::uint32_t column : tile.columns) kept[column] = true;
  std::vector<std::uint32_t> pruned;
  for (const Single& single : pattern.overlay) {
    if (!kept[single.column]) pruned.push_back(single.column);
    kept[single.column] = true;
  }
  return tiles_of(pruned, granularity);
}

}  // namespace

std::uint64_t TilePattern::kept() const {
  std::uint64_t elements = overlay.size();
  for (const ColumnTile& tile : tiles) elements += tile.columns.size() * tile.rows.size();
  return elements;
}

TilePattern prune(const DenseWeights& w, const Pruning& pruning) {
  const bool single = pruning.method == Method::tew;
  const double kept_share = 1 - pruning.sparsity;
  const double given_back = single ? std::min(pruning.overlay, kept_share) : 0;
  const std::uint64_t all = sparse::share_of(w.value.size(), kept_share);
  const std::uint64_t singles = std::min(all, sparse::share_of(w.value.size(), given_back));

  std::vector<std::uint32_t> columns(w.columns);
  std::iota(columns.begin(), columns.end(), 0U);
  if (pruning.method != Method::tw_1d) {
    const double left = std::sqrt(std::max(0.0, kept_share - given_back));
    columns = largest(column_scores(w), sparse::share_of(w.columns, left));
  }
  TilePattern pattern{tiles_of(columns, pruning.granularity), 0, {}};
  pattern.rounding = std::max<std::size_t>(columns.size(), 1);
  if (pruning.ranking == Ranking::tile) {
    for (ColumnTile& tile : pattern.tiles)
      tile.rows = largest(row_scores(w, tile), ceil_div(all - singles, columns.size()));
  } else {
    keep_rows_of_all(w, all - singles, pattern.tiles);
    pattern.rounding = std::min<std::uint64_t>(pattern.rounding, pruning.granularity);
  }
  if (single) {
    pattern.overlay = overlay(w, pattern, singles);
    const std::vector<ColumnTile> more = overlay_tiles(pattern, w.columns, pruning.granularity);
    pattern.tiles.insert(pattern.tiles.end(), more.begin(), more.end());
    pattern.overlay_tiles = more.size();
  }
  return pattern;
}

void zero_pruned(const TilePattern& pattern, DenseWeights& w) {
  std::vector<float> left(w.value.size());
  pattern.for_kept([&](std::uint64_t row, std::uint64_t column) {
    left[row * w.columns + column] = w.at(row, column);
  });
  w.value = std::move(left);
}

}  // namespace tessera::spmm_tilewise
