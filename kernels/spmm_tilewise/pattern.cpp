#include "kernels/spmm_tilewise/pattern.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/sparse/operand/pattern.h"

namespace tessera::spmm_tilewise {

namespace {

std::vector<bool> largest_share(const std::vector<double>& scores, double density) {
  return sparse::largest(scores, sparse::share_of(scores.size(), density));
}

double square(float value) { return static_cast<double>(value) * static_cast<double>(value); }

/// Columns that stay when whole columns are ranked.
std::vector<std::uint32_t> kept_columns(const DenseWeights& w, double density) {
  std::vector<double> scores(w.columns);
  for (std::uint32_t k = 0; k < w.rows; ++k) {
    for (std::uint32_t n = 0; n < w.columns; ++n) scores[n] += square(w.at(k, n));
  }
  for (double& score : scores) score = std::sqrt(score) / w.rows;
  const std::vector<bool> kept = largest_share(scores, density);
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
    scores[k] = std::sqrt(scores[k]) / static_cast<double>(tile.columns.size());
  }
  return scores;
}

void keep_rows(const DenseWeights& w, double density, Ranking ranking,
               std::vector<ColumnTile>& tiles) {
  std::vector<double> scores;
  std::vector<bool> kept;
  for (const ColumnTile& tile : tiles) {
    const std::vector<double> own = row_scores(w, tile);
    scores.insert(scores.end(), own.begin(), own.end());
    if (ranking == Ranking::global) continue;
    const std::vector<bool> stay = largest_share(own, density);
    kept.insert(kept.end(), stay.begin(), stay.end());
  }
  if (ranking == Ranking::global) kept = largest_share(scores, density);
  for (std::size_t t = 0; t < tiles.size(); ++t) {
    for (std::uint32_t k = 0; k < w.rows; ++k) {
      if (kept[t * w.rows + k]) tiles[t].rows.push_back(k);
    }
  }
}

/// The largest elements among those that the tiles do not keep.
std::vector<Single> overlay(const DenseWeights& w, const std::vector<ColumnTile>& tiles,
                            double share) {
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
  const std::vector<bool> kept =
      sparse::largest(scores, std::min(pruned, sparse::share_of(scores.size(), share)));
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
  const double density = std::max(0.0, 1 - pruning.sparsity - (single ? pruning.overlay : 0));
  const bool columns_too = pruning.method != Method::tw_1d;
  const double each = columns_too ? std::sqrt(density) : density;  // a dimension

  std::vector<std::uint32_t> columns(w.columns);
  std::iota(columns.begin(), columns.end(), 0U);
  if (columns_too) columns = kept_columns(w, each);
  TilePattern pattern{tiles_of(columns, pruning.granularity), 0, {}};
  keep_rows(w, each, pruning.ranking, pattern.tiles);
  if (single) {
    pattern.overlay = overlay(w, pattern.tiles, pruning.overlay);
    add_overlay_tiles(pattern, w.columns, pruning.granularity);
  }
  return pattern;
}

}  // namespace tessera::spmm_tilewise
