#include "kernels/spmm_static/partition.h"

#include <algorithm>
#include <numeric>
#include <set>

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

/// Rows of so many nonzeros, from the first column on.
sparse::BlockMatrix rows_of(const std::vector<std::uint32_t>& lengths, std::uint32_t columns) {
  sparse::BlockMatrix w{word(lengths.size()), columns, 1, {0}, {}, {}};
  for (const std::uint32_t length : lengths) {
    for (std::uint32_t column = 0; column < length; ++column) w.column.push_back(column);
    w.end_row();
  }
  return w;
}

/// A row costs 10 and 3 for each of up to `most` nonzeros.
std::shared_ptr<const ElementWorks> works(std::uint64_t most) {
  ElementWork work;
  for (std::uint64_t k = 0; k <= most; ++k) work.row.push_back({10 + 3 * k, 10 + 3 * k});
  return std::make_shared<ElementWorks>(ElementWorks{work, work});
}

/// Each block of W is in exactly one share of the layer, by rows and by columns.
void check_layer(const Deal& deal, const Layer& layer) {
  std::uint64_t next = 0;
  std::uint32_t place = 0;
  for (const Share& share : layer.shares) {
    CHECK(share.first == next);
    CHECK(share.place >= place);
    place = share.place + 1;
    next = share.last;
    std::set<std::uint32_t> columns;
    std::uint64_t at = share.first;
    for (const RowRun& run : share.rows) {
      CHECK(run.first == at);
      for (; at < run.last; ++at) {
        CHECK(deal.row[at] == run.row);
        columns.insert(deal.column[at]);
      }
    }
    CHECK(at == share.last);
    CHECK(std::equal(columns.begin(), columns.end(), share.columns.begin(), share.columns.end()));
  }
  CHECK(next == deal.blocks());
  CHECK(place <= layer.tiles);
}

void check_partition(const Partition& partition, const sparse::BlockMatrix& w, std::uint32_t n) {
  CHECK(partition.columns >= n);
  std::vector<std::uint64_t> source = partition.deal.source;
  std::sort(source.begin(), source.end());
  CHECK(source.size() == w.blocks());
  CHECK(std::adjacent_find(source.begin(), source.end()) == source.end());
  for (const Layer& layer : partition.layers) check_layer(partition.deal, layer);
  std::uint32_t column = 0;
  std::uint32_t tile = 0;
  for (const Part& part : partition.parts) {
    CHECK(part.begin == column);
    CHECK(part.first_tile == tile);
    column = part.end;
    tile += partition.layer(part).tiles;
  }
  CHECK(column == partition.columns);
  CHECK(tile <= partition.tiles);
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("every block is dealt to one tile of every interval of columns") {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      const std::uint32_t block = std::vector<std::uint32_t>{1, 4, 8, 16}[seed % 4];
      const auto m = static_cast<std::uint32_t>(1 + seed * 37 % 190);
      const auto n = static_cast<std::uint32_t>(1 + seed * 11 % 60);
      const double density = seed % 5 == 0 ? 0 : 0.6 / static_cast<double>(seed);
      const sparse::BlockMatrix w = random_blocks(m, 170, block, density, seed);
      for (const Type type : {Type::f16, Type::f32}) {
        for (const std::uint32_t parts : {1U, 3U}) {
          for (const std::uint32_t bands : {1U, 2U, 5U}) {
            CAPTURE(seed);
            CAPTURE(parts);
            CAPTURE(bands);
            for (const Dealing dealing : {Dealing::blocks, Dealing::work, Dealing::rows}) {
              const Partition partition = make_partition(
                  w, test::full_shape(block, type, Type::f32), n, 40, {parts, bands, dealing});
              if (!partition.parts.empty()) check_partition(partition, w, n);
            }
          }
        }
      }
    }
  }

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

  TEST_CASE("pairs of f16 elements are never cut") {
    const sparse::BlockMatrix w = random_blocks(40, 60, 1, 0.3, 3);
    for (const Dealing dealing : {Dealing::blocks, Dealing::work}) {
      const Partition partition =
          make_partition(w, test::full_shape(1, Type::f16, Type::f32), 8, 24, {1, 3, dealing});
      for (const Share& share : partition.layers.front().shares) {
        CHECK(partition.deal.value_begin[share.first] % 2 == 0);
        for (const RowRun& run : share.rows) CHECK(partition.deal.value_begin[run.first] % 2 == 0);
      }
    }
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
    CHECK_FALSE(direct(Type::f16, {3, 1, Dealing::rows}));  // their sums are still to be rounded
    CHECK_FALSE(direct(Type::f32, {3, 2, Dealing::rows}));
    CHECK_FALSE(direct(Type::f32, {3, 1, Dealing::blocks}));
  }

  TEST_CASE("every result is added up once, from all partial rows, and divided over the workers") {
    const sparse::BlockMatrix w = random_blocks(100, 170, 8, 0.1, 5);
    const Partition partition =
        make_partition(w, test::full_shape(8, Type::f16, Type::f32), 36, 40, {3, 4});
    const Reduction reduction(partition);
    std::uint64_t elements = 0;
    std::uint64_t partials = 0;
    for (const Destination& to : reduction.destinations()) {
      elements += to.elements;
      std::uint64_t received = 0;
      for (const Segment& segment : to.segments) {
        CHECK(segment.received == received);
        CHECK(segment.sources == reduction.sources(segment).size());
        received += segment.elements() * segment.sources * 4;
      }
      CHECK(received == to.received);
      partials += received;
      std::uint64_t words = 0;
      for (const ReducingWorker& worker : reduction.workers(to, 6)) {
        CHECK((worker.parts.empty() || worker.first_word == words));
        for (const SegmentPart& part : worker.parts) words += part.chunks * 2 + part.units;
      }
      CHECK(words * 4 == to.elements);
    }
    CHECK(elements == partition.y_elements());
    std::uint64_t sent = 0;
    for (const Part& part : partition.parts) {
      for (const Share& share : partition.layer(part).shares) {
        sent += share.rows.size() * partition.row_bytes(part);
      }
    }
    CHECK(partials == sent);
  }

  TEST_CASE("workers with slots of their own take as long as the longest") {
    CHECK(together({{60, 60}, {10, 10}, {0, 0}, {30, 30}}) == 60);
    CHECK(together({}) == 0);
  }

  TEST_CASE("a full pipeline takes the mean of its workers, no less than the longest alone") {
    CHECK(together({{40, 10}, {40, 10}, {40, 10}, {40, 10}}) == 40);
    CHECK(together({{40, 10}, {20, 5}, {20, 5}, {0, 0}}) == 20);  // (40 + 20 + 20 + 0) / 4
    CHECK(together({{40, 10}, {0, 0}, {0, 0}, {0, 0}}) == 10);
    CHECK(together({{40, 30}, {20, 15}, {20, 15}, {20, 15}}) == 35);  // 20 together, 15 alone
  }
}
