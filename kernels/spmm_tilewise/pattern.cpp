#include "kernels/spmm_tilewise/pattern.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/sparse/operand/pattern.h"
#include "kernels/sparse/operand/sources.h"
#include "sim/base/errors.h"
#include "sim/base/types.h"
#include "sim/data/element.h"
#include "sim/data/read_file.h"

namespace tessera::spmm_tilewise {

namespace {

constexpr config::Names<Method, 3> kMethods{
    {{"tw_1d", Method::tw_1d}, {"tw_2d", Method::tw_2d}, {"tew", Method::tew}}};
constexpr config::Names<Ranking, 2> kRankings{
    {{"global", Ranking::global}, {"tile", Ranking::tile}}};
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 28;  // 1 GiB of values on the host

constexpr double kWhole = 1 + 1e-9;  // tolerance for two shares with a rounded sum of 1

void describe_pruning(config::Fields& fields, Pruning& pruning) {
  fields.field(
      {"method",
       "tw_1d: prune rows of column tiles; tw_2d: prune whole columns, then rows of tiles of the "
       "remaining columns; tew: prune more than tw_2d, then restore single elements"},
      pruning.method, kMethods);
  fields.field({"sparsity",
                "share of the elements of W that is pruned, as near as whole rows of tiles allow; "
                "workload.pruned in the report gives the share reached"},
               pruning.sparsity, {0.0, 1.0});
  fields.field({"granularity", "columns of a tile; the last may have fewer"}, pruning.granularity,
               {1, 1u << 24});
  fields.field(
      {"ranking",
       "rank rows of tiles over all tiles (global: sparsity is rounded to a row of a tile), or "
       "within each tile (tile: all tiles keep equally many, sparsity is rounded to a row of all)"},
      pruning.ranking, kRankings);
  fields.field({"overlay", "tew: share of W restored as single elements; at most 1 - sparsity"},
               pruning.overlay, {0.0, 1.0});
  fields.require_read(pruning.method == Method::tew, "overlay", "is used by method tew only");
  if (!fields.given("overlay")) pruning.overlay = std::min(pruning.overlay, 1 - pruning.sparsity);
  fields.require(pruning.overlay + pruning.sparsity <= kWhole, "overlay",
                 "found {}, allowed up to {:.6g}: 1 - sparsity", pruning.overlay,
                 1 - pruning.sparsity);
}

sparse::WeightOptions values_of(const WeightOptions& weights) {
  return {.matrix = weights.matrix, .dtype = weights.dtype, .seed = weights.seed};
}

DenseWeights from_file(const WeightOptions& weights) {
  const data::SparseMatrix given = sparse::read_matrix_file(values_of(weights));
  DenseWeights w{given.rows, given.columns, {}, given.rounded};
  w.value.resize(std::size_t{w.rows} * w.columns);
  for (std::uint32_t row = 0; row < w.rows; ++row) {
    for (std::uint64_t e = given.row_begin[row]; e < given.row_begin[row + 1]; ++e) {
      w.value[std::size_t{row} * w.columns + given.column[e]] = static_cast<float>(given.value[e]);
    }
  }
  return w;
}

DenseWeights seeded(const WeightOptions& weights) {
  const sparse::WeightOptions values = values_of(weights);
  DenseWeights w{weights.k, weights.n, {}};
  w.value.reserve(std::size_t{w.rows} * w.columns);
  for (std::uint32_t row = 0; row < w.rows; ++row) {
    for (std::uint32_t column = 0; column < w.columns; ++column) {
      const double scale = 1 + weights.spread * column / w.columns;
      const double value = sparse::seeded_value(values, row, column, w.columns) * scale;
      w.value.push_back(static_cast<float>(data::rounded(weights.dtype, value)));
    }
  }
  return w;
}

double square(float value) { return static_cast<double>(value) * static_cast<double>(value); }

/// Indices of the `wanted` largest scores, ascending; among equals the first.
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

/// Keeps rows with the largest scores over all tiles until they contain `elements`.
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

/// The largest elements that the tiles do not keep.
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

/// Tiles of the pruned columns with restored elements.
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

void describe(config::Fields& fields, WeightOptions& weights) {
  constexpr config::Range<std::uint32_t> kSize{1, 1u << 24};
  fields.field({"k", "rows of W, columns of A; given by the matrix file if there is one"},
               weights.k, kSize);
  fields.field({"n", "columns of W and C; given by the matrix file if there is one"}, weights.n,
               kSize);
  fields.file({"matrix",
               "the dense W[k, n] to prune, from a .npy file (.mtx and .smtx: zeros filled in), "
               "rounded to dtype (workload.rounded in the report); seeded values if not given. "
               "Saved as W after pruning, with zeros"},
              weights.matrix);
  fields.field({"spread",
                "column j of a seeded W is scaled by 1 + spread j / "
                "n, so that a global ranking "
                "keeps more rows in later tiles"},
               weights.spread, {0.0, 1000.0});
  fields.require_read(weights.matrix.empty(), "spread",
                      "found {}, which nothing reads with a matrix file", weights.spread);
  describe_pruning(fields, weights.pruning);
  fields.field({"dtype", "type of A, W and C"}, weights.dtype, data::kFloatTypes);
  fields.field({"seed", "seed of the values"}, weights.seed);
  if (fields.given("matrix") && !weights.matrix.empty())
    sparse::take_file_size(fields, weights.matrix, {"k", weights.k}, {"n", weights.n});
}

std::string problem_of(const WeightOptions& weights) {
  const Pruning& pruning = weights.pruning;
  const std::string file = weights.matrix.empty() ? "" : " " + data::file_name(weights.matrix);
  return fmt::format("{}x{}{} {} {:g} {}", weights.n, weights.k, file,
                     config::name_of(kMethods, pruning.method), pruning.sparsity,
                     config::name_of(data::kFloatTypes, weights.dtype));
}

DenseWeights make_weights(const WeightOptions& weights) {
  if (std::uint64_t{weights.k} * weights.n > kMostElements) {
    throw UserError("workload: found a dense W of {} x {}, {} elements, allowed up to {}",
                    weights.k, weights.n, std::uint64_t{weights.k} * weights.n, kMostElements);
  }
  return weights.matrix.empty() ? seeded(weights) : from_file(weights);
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
