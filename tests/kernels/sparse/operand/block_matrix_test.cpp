#include "kernels/sparse/operand/block_matrix.h"

#include <algorithm>
#include <map>

#include <doctest/doctest.h>

#include "kernels/sparse/operand/weights.h"
#include "sim/data/random.h"

using namespace tessera;
using namespace tessera::sparse;

namespace {

using Dense = std::map<std::pair<std::uint32_t, std::uint32_t>, double>;

data::SparseMatrix random_matrix(std::uint32_t rows, std::uint32_t columns, std::uint32_t draws) {
  std::vector<data::Entry> entries;
  Dense seen;
  for (std::uint32_t i = 0; i < draws; ++i) {
    const auto row = static_cast<std::uint32_t>(data::random_below(7, 0, i, rows));
    const auto column = static_cast<std::uint32_t>(data::random_below(7, 1, i, columns));
    if (seen.emplace(std::pair(row, column), i + 1.0).second) {
      entries.push_back({row, column, i + 1.0});
    }
  }
  return data::from_entries(rows, columns, entries);
}

Dense elements(const data::SparseMatrix& w) {
  Dense all;
  for (std::uint32_t row = 0; row < w.rows; ++row) {
    for (std::uint64_t e = w.row_begin[row]; e < w.row_begin[row + 1]; ++e) {
      all[{row, w.column[e]}] = w.value[e];
    }
  }
  return all;
}

/// The nonzeros of W; fails on unsorted columns and on values outside the matrix.
Dense elements(const BlockMatrix& w) {
  Dense all;
  REQUIRE(w.row_begin.size() == w.block_rows() + 1);
  REQUIRE(w.row_begin.back() == w.blocks());
  w.for_blocks([&](std::uint32_t row, std::uint64_t e) {
    if (e > w.row_begin[row]) CHECK(w.column[e] > w.column[e - 1]);
    CHECK(w.column[e] < w.block_columns());
  });
  w.for_elements([&](std::uint32_t row, std::uint32_t column, std::uint64_t at) {
    if (w.value[at] != 0) all[{row, column}] = static_cast<double>(w.value[at]);
  });
  CHECK(std::ranges::count_if(w.value, [](float value) { return value != 0; }) == std::ssize(all));
  return all;
}

Dense swapped(const Dense& all) {
  Dense result;
  for (const auto& [place, value] : all) result[{place.second, place.first}] = value;
  return result;
}

double square(const BlockMatrix& w, std::uint64_t e) {
  double sum = 0;
  for (const float value : w.values(e))
    sum += static_cast<double>(value) * static_cast<double>(value);
  return sum;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("rows with blocks are those of the offsets, few or all of them") {
    for (const std::uint32_t draws : {0U, 1U, 3U, 40U, 2000U}) {
      for (const std::uint32_t rows : {1U, 7U, 500U}) {
        const BlockMatrix w = to_blocks(random_matrix(rows, 9, draws), 2);
        std::vector<std::uint32_t> expected;
        for (std::uint32_t row = 0; row < w.block_rows(); ++row) {
          if (w.row_begin[row + 1] > w.row_begin[row]) expected.push_back(row);
        }
        CHECK(filled_rows(w) == expected);
      }
    }
  }

  TEST_CASE("blocks hold the entries of the matrix that they are made of and no others") {
    for (const auto& [rows, columns, draws] : {std::tuple{37U, 53U, 200U},
                                               {1U, 1U, 1U},
                                               {16U, 16U, 300U},
                                               {5U, 90U, 0U},
                                               {90U, 5U, 9U}}) {
      const data::SparseMatrix w = random_matrix(rows, columns, draws);
      for (const std::uint32_t block : {1U, 4U, 8U, 16U}) {
        CAPTURE(w.rows);
        CAPTURE(block);
        const BlockMatrix blocks = to_blocks(w, block);
        CHECK(elements(blocks) == elements(w));
        CHECK(blocks.nonzeros == w.entries());
        const BlockMatrix t = transposed(blocks);
        CHECK(t.rows == columns);
        CHECK(t.nonzeros == w.entries());
        CHECK(elements(t) == swapped(elements(w)));
      }
    }
  }

  TEST_CASE("only blocks with an entry are kept") {
    const BlockMatrix w = to_blocks(data::from_entries(9, 9, {{0, 0, 1}, {3, 3, 2}, {8, 4, 3}}), 4);
    CHECK(w.row_begin == std::vector<std::uint64_t>{0, 1, 1, 2});
    CHECK(w.column == std::vector<std::uint32_t>{0, 1});
  }

  TEST_CASE("the blocks of the largest norm stay, with their values") {
    const BlockMatrix w = make_weights({.m = 40, .k = 60, .block = 8, .density = 1});
    const BlockMatrix pruned = pruned_to_blocks(w, 0.25);
    CHECK(pruned.blocks() == 10);
    double least = 1e9;
    for (std::uint64_t e = 0; e < pruned.blocks(); ++e) least = std::min(least, square(pruned, e));
    std::uint64_t larger = 0;
    std::uint64_t same = 0;
    w.for_blocks([&](std::uint32_t row, std::uint64_t e) {
      larger += square(w, e) >= least ? 1 : 0;
      for (std::uint64_t p = pruned.row_begin[row]; p < pruned.row_begin[row + 1]; ++p)
        same += pruned.column[p] == w.column[e] && std::ranges::equal(pruned.values(p), w.values(e))
                    ? 1
                    : 0;
    });
    CHECK(larger == 10);
    CHECK(same == 10);
  }

  TEST_CASE("pruning keeps the first of equal blocks and ignores zeros") {
    const BlockMatrix w =
        to_blocks(data::from_entries(8, 8, {{0, 0, 2}, {0, 4, -2}, {4, 0, 2}, {7, 7, 1}}), 4);
    const BlockMatrix pruned = pruned_to_blocks(w, 0.5);
    CHECK(pruned.row_begin == std::vector<std::uint64_t>{0, 2, 2});
    CHECK(pruned.nonzeros == 2);
    CHECK(pruned_to_blocks(w, 1).nonzeros == 4);
    CHECK(pruned_to_blocks(w, 0).blocks() == 0);
  }
}
