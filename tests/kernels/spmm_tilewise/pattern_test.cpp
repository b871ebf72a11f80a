#include "kernels/spmm_tilewise/pattern.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <doctest/doctest.h>

#include "sim/data/random.h"

using namespace tessera;
using namespace tessera::spmm_tilewise;

namespace {

DenseWeights seeded(std::uint32_t k, std::uint32_t n, double spread = 0) {
  WeightOptions options{.k = k, .n = n, .spread = spread};
  return make_weights(options);
}

Pruning pruning(Method method, double sparsity, std::uint32_t granularity = 16) {
  return {.method = method, .sparsity = sparsity, .granularity = granularity};
}

double norm(const DenseWeights& w, const ColumnTile& tile, std::uint32_t row) {
  double sum = 0;
  for (const std::uint32_t n : tile.columns) {
    sum += static_cast<double>(w.at(row, n)) * static_cast<double>(w.at(row, n));
  }
  return std::sqrt(sum / static_cast<double>(tile.columns.size()));
}

bool keeps(const ColumnTile& tile, std::uint32_t row) {
  return std::binary_search(tile.rows.begin(), tile.rows.end(), row);
}

std::size_t rows_of(const TilePattern& pattern) {
  std::size_t rows = 0;
  for (const ColumnTile& tile : pattern.tiles) rows += tile.rows.size();
  return rows;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("tw_1d keeps the rows of tiles of the largest norms, over all tiles") {
    const DenseWeights w = seeded(40, 50);
    const TilePattern pattern = prune(w, pruning(Method::tw_1d, 0.7));
    CHECK(pattern.tiles.size() == 4);
    CHECK(pattern.tiles.back().columns == std::vector<std::uint32_t>{48, 49});
    CHECK(pattern.tiles.back().rows.size() < 40);
    CHECK(pattern.kept() >= 600);
    CHECK(pattern.kept() < 616);
    double least_kept = 1e9;
    double most_pruned = 0;
    for (const ColumnTile& tile : pattern.tiles) {
      for (std::uint32_t row = 0; row < 40; ++row) {
        const double score = norm(w, tile, row);
        if (keeps(tile, row)) least_kept = std::min(least_kept, score);
        if (!keeps(tile, row)) most_pruned = std::max(most_pruned, score);
      }
    }
    CHECK(least_kept >= most_pruned);
  }

  TEST_CASE("ranked within each tile, all tiles keep as many rows") {
    Pruning within = pruning(Method::tw_1d, 0.7);
    within.ranking = Ranking::tile;
    const TilePattern pattern = prune(seeded(40, 50, 5), within);
    for (const ColumnTile& tile : pattern.tiles) CHECK(tile.rows.size() == 12);
  }

  TEST_CASE("tw_2d prunes as much of either dimension, columns first") {
    const DenseWeights w = seeded(40, 60);
    const TilePattern pattern = prune(w, pruning(Method::tw_2d, 0.75));
    std::vector<std::uint32_t> kept;
    for (const ColumnTile& tile : pattern.tiles) {
      kept.insert(kept.end(), tile.columns.begin(), tile.columns.end());
    }
    CHECK(std::is_sorted(kept.begin(), kept.end()));
    CHECK(kept.size() == 30);
    CHECK(pattern.tiles.size() == 2);  // re-formed from the remaining columns
    CHECK(pattern.tiles.front().columns.size() == 16);
    CHECK(rows_of(pattern) == 40);  // half of 80
    ColumnTile column;
    std::map<std::uint32_t, double> scores;
    for (std::uint32_t n = 0; n < 60; ++n) {
      for (std::uint32_t k = 0; k < 40; ++k)
        scores[n] += std::pow(static_cast<double>(w.at(k, n)), 2);
    }
    double least = 1e9;
    for (const std::uint32_t n : kept) least = std::min(least, scores[n]);
    for (const auto& [n, score] : scores) {
      if (!std::binary_search(kept.begin(), kept.end(), n)) CHECK(score <= least);
    }
  }

  TEST_CASE("tew prunes more and gives the largest single elements back") {
    const DenseWeights w = seeded(40, 60);
    Pruning tew = pruning(Method::tew, 0.7);
    tew.overlay = 0.05;
    const TilePattern pattern = prune(w, tew);
    CHECK(pattern.overlay.size() == 120);
    Pruning tw = pruning(Method::tw_2d, 0.75);
    CHECK(rows_of(pattern) == rows_of(prune(w, tw)));
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> kept;
    for (const ColumnTile& tile : pattern.tiles) {
      for (const std::uint32_t n : tile.columns) {
        for (const std::uint32_t k : tile.rows) ++kept[{n, k}];
      }
    }
    double least = 1e9;
    std::pair<std::uint32_t, std::uint32_t> before{0, 0};
    for (const Single& single : pattern.overlay) {
      CHECK(++kept[{single.column, single.row}] == 1);
      CHECK(before <= std::pair(single.column, single.row));
      before = {single.column, single.row};
      least = std::min(least, std::abs(static_cast<double>(w.at(single.row, single.column))));
    }
    for (std::uint32_t n = 0; n < 60; ++n) {
      for (std::uint32_t k = 0; k < 40; ++k) {
        if (kept.count({n, k}) == 0) CHECK(std::abs(static_cast<double>(w.at(k, n))) <= least);
      }
    }
    CHECK(pattern.kept() == kept.size());
  }

  TEST_CASE("nothing pruned, everything pruned, and a single column") {
    for (const Method method : {Method::tw_1d, Method::tw_2d, Method::tew}) {
      Pruning all = pruning(method, 0);
      all.overlay = 0;
      CHECK(prune(seeded(7, 9), all).kept() == 63);
      all.sparsity = 1;
      CHECK(prune(seeded(7, 9), all).kept() == 0);
      all.overlay = 1;
      all.sparsity = 0.5;
      if (method == Method::tew) CHECK(prune(seeded(7, 9), all).kept() == 32);
      CHECK(prune(seeded(7, 1), pruning(method, 0.5)).kept() > 0);
    }
  }

  TEST_CASE("the share of W that is pruned is as asked, whatever the widths of tiles are") {
    Pruning ragged = pruning(Method::tw_1d, 0.6, 128);
    const TilePattern pattern = prune(seeded(100, 300), ragged);
    CHECK(pattern.kept() >= 12000);
    CHECK(pattern.kept() < 12128);
    CHECK(pattern.rounding == 128);
    CHECK(pattern.tiles.back().rows.size() < 70);  // of 100 rows, in 44 columns
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      CAPTURE(seed);
      const auto below = [&](std::uint64_t stream, std::uint64_t most) {
        return static_cast<std::uint32_t>(data::random_below(seed, stream, 0, most));
      };
      Pruning any;
      any.method = static_cast<Method>(below(0, 3));
      any.ranking = static_cast<Ranking>(below(1, 2));
      any.granularity = 1 + below(2, below(3, 2) == 0 ? 8 : 80);
      any.sparsity = below(4, 1001) / 1000.0;
      any.overlay = below(5, 1001) / 1000.0 * (1 - any.sparsity);
      const DenseWeights w = seeded(1 + below(6, 60), 1 + below(7, 90), below(8, 3));
      const TilePattern random = prune(w, any);
      const double asked = (1 - any.sparsity) * static_cast<double>(w.value.size());
      CHECK(std::abs(static_cast<double>(random.kept()) - asked) <=
            static_cast<double>(random.rounding));
      CHECK(random.rounding <= (any.ranking == Ranking::tile ? w.columns : any.granularity));
    }
  }

  TEST_CASE("a W that grows with the column makes tiles keep unequal numbers of rows") {
    const TilePattern even = prune(seeded(200, 160), pruning(Method::tw_1d, 0.75, 32));
    const TilePattern uneven = prune(seeded(200, 160, 0.2), pruning(Method::tw_1d, 0.75, 32));
    const auto ratio = [](const TilePattern& pattern) {
      std::size_t most = 0;
      for (const ColumnTile& tile : pattern.tiles) most = std::max(most, tile.rows.size());
      return static_cast<double>(most * pattern.tiles.size()) /
             static_cast<double>(rows_of(pattern));
    };
    CHECK(ratio(even) < 1.5);
    CHECK(ratio(uneven) > 1.7);
  }
}
