#include "kernels/spmm_static/partition.h"

#include <algorithm>
#include <numeric>

#include <doctest/doctest.h>

#include "kernels/sparse/operand/weights.h"
#include "kernels/spmm_static/work.h"
#include "tests/kernels/unit_shapes.h"

using namespace tessera;
using namespace tessera::spmm_static;

namespace {

sparse::BlockMatrix random_blocks(std::uint32_t m, std::uint32_t k, std::uint32_t block,
                                  double density, std::uint64_t seed) {
  return sparse::make_weights({.m = m, .k = k, .block = block, .density = density, .seed = seed});
}

/// Row i has lengths[i] nonzeros, in its first columns.
sparse::BlockMatrix rows_of(const std::vector<std::uint32_t>& lengths, std::uint32_t columns) {
  sparse::BlockMatrix w{word(lengths.size()), columns, 1, {0}, {}, {}};
  for (const std::uint32_t length : lengths) {
    for (std::uint32_t column = 0; column < length; ++column) w.column.push_back(column);
    w.end_row();
  }
  return w;
}

/// A row costs 10, plus 3 for each of its up to `most` nonzeros.
std::shared_ptr<const ElementWorks> works(std::uint64_t most) {
  ElementWork work;
  for (std::uint64_t k = 0; k <= most; ++k) work.row.push_back({10 + 3 * k, 10 + 3 * k});
  return std::make_shared<ElementWorks>(ElementWorks{work, work});
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("bands have about equally many blocks, and none without") {
    std::vector<std::uint32_t> counts(100, 3);
    counts[10] = 0;
    const Bands bands = cut_bands(counts, 7);
    CHECK(bands.count() == 7);
    CHECK(std::accumulate(bands.blocks.begin(), bands.blocks.end(), std::uint64_t{0}) == 297);
    for (const std::uint64_t blocks : bands.blocks) CHECK(blocks <= 45);
    CHECK(cut_bands({0, 0, 5}, 4).count() == 1);
    CHECK(cut_bands({0, 0}, 4).count() == 0);
  }

  TEST_CASE("bands get tiles by their blocks, in pairs, and there may be too few") {
    CHECK(tiles_by_band({100, 300}, 8, 2) == std::vector<std::uint32_t>{2, 6});
    CHECK(tiles_by_band({1, 300}, 8, 2) == std::vector<std::uint32_t>{2, 6});
    CHECK(tiles_by_band({10, 10, 10}, 4, 2).empty());
  }

  TEST_CASE("dealt by work, tiles with many short rows have fewer elements") {
    std::vector<std::uint32_t> lengths(400, 2);
    for (std::size_t row = 0; row < 20; ++row) lengths[row] = 60;
    const sparse::BlockMatrix w = rows_of(lengths, 100);
    const auto most_work = [&](Dealing dealing) {
      const Partition partition = make_partition(w, test::full_shape(1, Type::f32, Type::f32), 4,
                                                 20, {1, 1, dealing}, works(60));
      std::uint64_t most = 0;
      for (const Share& share : partition.layers.front().shares) {
        std::uint64_t work = 0;
        for (const RowRun& run : share.rows) work += 10 + 3 * (run.last - run.first);
        most = std::max(most, work);
      }
      return most;
    };
    const std::uint64_t mean = (400 * std::uint64_t{10} + 3 * w.blocks()) / 20;
    CHECK(most_work(Dealing::blocks) > mean * 3 / 2);
    CHECK(most_work(Dealing::work) <= mean + 13);
    CHECK(most_work(Dealing::rows) <= mean + 190);
  }

  TEST_CASE("dealt in whole rows of one band, no two partial rows meet") {
    const sparse::BlockMatrix w = random_blocks(100, 170, 4, 0.1, 5);
    const auto direct = [&](Type type, const Cuts& cuts) {
      return Reduction(make_partition(w, test::full_shape(4, type, Type::f32), 36, 40, cuts))
          .direct();
    };
    CHECK(direct(Type::f32, {3, 1, Dealing::rows}));
    CHECK_FALSE(direct(Type::f16, {3, 1, Dealing::rows}));  // their f32 sums must still be rounded
    CHECK_FALSE(direct(Type::f32, {3, 2, Dealing::rows}));
    CHECK_FALSE(direct(Type::f32, {3, 1, Dealing::blocks}));
  }

  TEST_CASE("workers with slots of their own take as long as the longest") {
    CHECK(together({{60, 60}, {10, 10}, {0, 0}, {30, 30}}) == 60);
    CHECK(together({}) == 0);
  }

  TEST_CASE("a full pipeline takes the mean of its workers, no less than the longest alone") {
    CHECK(together({{40, 10}, {40, 10}, {40, 10}, {40, 10}}) == 40);
    CHECK(together({{40, 10}, {20, 5}, {20, 5}, {0, 0}}) == 20);  // (40 + 20 + 20 + 0) / 4
    CHECK(together({{40, 10}, {0, 0}, {0, 0}, {0, 0}}) == 10);
    CHECK(together({{40, 30}, {20, 15}, {20, 15}, {20, 15}}) == 35);  // 20 together, then 15 alone
  }
}
