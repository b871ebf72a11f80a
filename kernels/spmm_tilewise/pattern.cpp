#include "kernels/spmm_tilewise/pattern.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/sparse/operand/pattern.h"
#include "sim/base/types.h"

namespace tessera::spmm_tilewise {

namespace {

double square(float value) { return static_cast<double>(value) * static_cast<double>(value); }

/// Columns that stay when whole columns are ranked.
std::vector<std::uint32_t> kept_columns(const DenseWeights& w, double density) {
  std::vector<double> scores(w.columns);
  for (std::uint32_t k = 0; k < w.rows; ++k) {
    for (std::uint32_t n = 0; n < w.columns; ++n) scores[n] += square(w.at(k, n));
  }
  for (double& score : scores) score = std::sqrt(score) / w.rows;
  const std::vector<bool> kept = sparse::largest(scores, sparse::share_of(scores.size(), density));
  std::vector<std::uint32_t> columns;
  for (std::uint32_t n = 0; n < w.columns; ++n) {
    if (kept[n]) columns.push_back(n);
  }
  return columns;
}

std::vector<ColumnTile> tiles_of(const std::vector<std::uint32_t>& columns,
                                 std::uint32_t granularity) {
  std::vector<ColumnTile> tiles;
  for (std::size_t first = 0; first < columns.size(); first += granularity) {
    const std::size_t end = std::min<std::size_t>(first + granularity, columns.size());
    tiles.push_back({{columns.begin() + static_cast<std::ptrdiff_t>(first),
                      columns.begin() + static_cast<std::ptrdiff_t>(end)},
                     {}});
  }
  return tiles;
}

std::vector<double> row_scores(const DenseWeights& w, const ColumnTile& tile) {
  std::vector<double> scores(w.rows);
  for (std::uint32_t k = 0; k < w.rows; ++k) {
    for (const std::uint32_t n : tile.columns) scores[k] += square(w.at(k, n));
    scores[k] = std::sqrt(scores[k] / static_cast<double>(tile.columns.size()));
  }
  return scores;
}

/// Keeps as many rows in every tile, those of the largest scores, as hold `elements` together.
void keep_rows_of_each(const DenseWeights& w, std::uint64_t elements,
                       std::vector<ColumnTile>& tiles) {
  std::uint64_t columns = 0;
  for (const ColumnTile& tile : tiles) columns += tile.columns.size();
  for (ColumnTile& tile : tiles) {
    const std::vector<bool> kept =
        sparse::largest(row_scores(w, tile), ceil_div(elements, columns));
    for (std::uint32_t k = 0; k < w.rows; ++k) {
      if (kept[k]) tile.rows.push_back(k);
    }
  }
}

/// Keeps the rows of the largest scores over all tiles until they hold `elements`.
void keep_rows_of_all(const DenseWeights& w, std::uint64_t elements,
                      std::vector<ColumnTile>& tiles) {
  struct Row {
    double score;
    std::size_t tile;
    std::uint32_t row;
  };
  std::vector<Row> rows;
  for (std::size_t t = 0; t < tiles.size(); ++t) {
    const std::vector<double> scores = row_scores(w, tiles[t]);
    for (std::uint32_t k = 0; k < w.rows; ++k) rows.push_back({scores[k], t, k});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.score > b.score; });
  std::uint64_t kept = 0;
  for (const Row& row : rows) {
    if (kept >= elements) break;
    kept += tiles[row.tile].columns.size();
    tiles[row.tile].rows.push_back(row.row);
  }
  for (ColumnTile& tile : tiles) std::sort(tile.rows.begin(), tile.rows.end());
}

/// The largest elements among those that the tiles do not keep.
std::vector<Single> overlay(const DenseWeights& w, const std::vector<ColumnTile>& tiles,
                            std::uint64_t wanted) {
  std::vector<double> scores(w.value.size());  // by column, then row
  for (std::uint64_t n = 0; n < w.columns; ++n) {
    for (std::uint64_t k = 0; k < w.rows; ++k) {
      scores[n * w.rows + k] = std::abs(static_cast<double>(w.at(k, n)));
    }
  }
  std::uint64_t pruned = scores.size();
  for (const ColumnTile& tile : tiles) {
    for (const std::uint64_t n : tile.columns) {
      for (const std::uint32_t k : tile.rows) scores[n * w.rows + k] = -1;
    }
    pruned -= tile.columns.size() * tile.rows.size();
  }
  const std::vector<bool> kept = sparse::largest(scores, std::min(pruned, wanted));
  std::vector<Single> singles;
  for (std::uint64_t i = 0; i < kept.size(); ++i) {
    if (!kept[i]) continue;
    singles.push_back(
        {static_cast<std::uint32_t>(i % w.rows), static_cast<std::uint32_t>(i / w.rows)});
  }
  return singles;
}

/// Tiles of the pruned columns that have elements given back.
void add_overlay_tiles(TilePattern& pattern, std::uint32_t columns, std::uint32_t granularity) {
  std::vector<bool> left(columns, false);
  for (const Single& single : pattern.overlay) left[single.column] = true;
  for (const ColumnTile& tile : pattern.tiles) {
    for (const std::uint32_t column : tile.columns) left[column] = false;
  }
  std::vector<std::uint32_t> pruned;
  for (std::uint32_t column = 0; column < columns; ++column) {
    if (left[column]) pruned.push_back(column);
  }
  const std::vector<ColumnTile> more = tiles_of(pruned, granularity);
  pattern.tiles.insert(pattern.tiles.end(), more.begin(), more.end());
  pattern.overlay_tiles = more.size();
}

}  // namespace

bool TilePattern::is_single(std::uint32_t row, std::uint32_t column) const {
  return std::binary_search(overlay.begin(), overlay.end(), Single{row, column},
                            [](const Single& a, const Single& b) {
                              return a.column != b.column ? a.column < b.column : a.row < b.row;
                            });
}

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
  if (pruning.method != Method::tw_1d)
    columns = kept_columns(w, std::sqrt(std::max(0.0, kept_share - given_back)));
  TilePattern pattern{tiles_of(columns, pruning.granularity), 0, {}};
  if (pruning.ranking == Ranking::tile) {
    keep_rows_of_each(w, all - singles, pattern.tiles);
  } else {
    keep_rows_of_all(w, all - singles, pattern.tiles);
  }
  pattern.rounding = std::max<std::size_t>(columns.size(), 1);
  if (pruning.ranking == Ranking::global)
    pattern.rounding = std::min<std::uint64_t>(pattern.rounding, pruning.granularity);
  if (single) {
    pattern.overlay = overlay(w, pattern.tiles, singles);
    add_overlay_tiles(pattern, w.columns, pruning.granularity);
  }
  return pattern;
}

}  // namespace tessera::spmm_tilewise
