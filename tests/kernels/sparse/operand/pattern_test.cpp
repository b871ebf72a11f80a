#include "kernels/sparse/operand/pattern.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <doctest/doctest.h>

using namespace tessera::sparse;

namespace {

/// Checks that offsets and columns are sorted and in range; returns the sizes of the rows.
std::vector<std::uint64_t> row_sizes(const BlockPattern& pattern) {
  REQUIRE(pattern.row_begin.size() == pattern.rows + 1);
  REQUIRE(pattern.row_begin.back() == pattern.column.size());
  std::vector<std::uint64_t> sizes;
  for (std::uint32_t row = 0; row < pattern.rows; ++row) {
    for (std::uint64_t e = pattern.row_begin[row]; e < pattern.row_begin[row + 1]; ++e) {
      CHECK(pattern.column[e] < pattern.columns);
      if (e > pattern.row_begin[row]) CHECK(pattern.column[e] > pattern.column[e - 1]);
    }
    sizes.push_back(pattern.row_begin[row + 1] - pattern.row_begin[row]);
  }
  return sizes;
}

std::vector<std::uint32_t> columns_of(const BlockPattern& pattern, std::uint32_t row) {
  const auto at = [&](std::uint32_t i) {
    return pattern.column.begin() + static_cast<std::ptrdiff_t>(pattern.row_begin[i]);
  };
  return {at(row), at(row + 1)};
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a random subset has as many different numbers as wanted, evenly spread") {
    for (const std::uint64_t wanted : {0ULL, 1ULL, 100ULL, 9000ULL, 30000ULL, 90000ULL}) {
      CAPTURE(wanted);
      constexpr std::uint64_t kPlaces = 90000;
      const std::vector<std::uint64_t> chosen = random_subset(kPlaces, wanted, 3);
      CHECK(chosen.size() == wanted);
      CHECK(std::is_sorted(chosen.begin(), chosen.end()));
      CHECK(std::set<std::uint64_t>(chosen.begin(), chosen.end()).size() == wanted);
      CHECK((chosen.empty() || chosen.back() < kPlaces));
      const auto low = std::lower_bound(chosen.begin(), chosen.end(), kPlaces / 2);
      const auto half = static_cast<double>(wanted) / 2;
      // Five standard deviations of a fair coin: a hypergeometric count varies less.
      CHECK(std::abs(static_cast<double>(low - chosen.begin()) - half) <= 5 * std::sqrt(half / 2));
      if (wanted > 0 && wanted < kPlaces) CHECK(chosen != random_subset(kPlaces, wanted, 4));
    }
  }

  TEST_CASE("a share of the places is rounded up, but not for the sake of a rounding error") {
    CHECK(share_of(100, 0.07) == 7);
    CHECK(share_of(100, 0.071) == 8);
    CHECK(share_of(100, 0) == 0);
    CHECK(share_of(100, 1) == 100);
    CHECK(share_of(7, 1e-9) == 1);
    CHECK(share_of(std::uint64_t{1} << 40, 0x1p-20) == std::uint64_t{1} << 20);
  }

  TEST_CASE("a huge matrix of few nonzeros takes work for its nonzeros only") {
    const BlockPattern pattern = uniform_pattern(1U << 24, 1U << 24, 0x1p-40, 1);
    CHECK(pattern.column.size() == 256);
    CHECK(pattern.row_begin.back() == 256);
  }

  TEST_CASE("row-skewed sizes follow the power law and sum to the wanted number") {
    for (const double density : {0.0, 0.001, 0.05, 0.4, 1.0}) {
      CAPTURE(density);
      const BlockPattern pattern = row_skewed_pattern(300, 200, density, 1, 5);
      CHECK(pattern.column.size() == share_of(300ULL * 200, density));
      std::vector<std::uint64_t> sizes = row_sizes(pattern);
      CHECK(sizes == row_sizes(row_skewed_pattern(300, 200, density, 1, 5)));
      if (density == 0.05) CHECK(!std::is_sorted(sizes.rbegin(), sizes.rend()));
      std::sort(sizes.rbegin(), sizes.rend());
      CHECK(sizes.front() <= 200);
      // Rank 20 has twice as many as rank 40, up to rounding, if neither row is full.
      if (density == 0.05) {
        CHECK(std::abs(static_cast<double>(sizes[19]) - 2 * static_cast<double>(sizes[39])) <= 4);
      }
    }
    for (const std::uint64_t size : row_sizes(row_skewed_pattern(90, 100, 0.3, 0, 1))) {
      CHECK(size == 30);
    }
  }

  TEST_CASE("n of m keeps so many of every group, of a short last one too") {
    const BlockPattern pattern = n_of_m_pattern(50, 30, 3, 8, 2);
    row_sizes(pattern);
    std::set<std::vector<std::uint32_t>> rows;
    for (std::uint32_t row = 0; row < 50; ++row) {
      std::vector<std::uint32_t> kept(4, 0);
      for (const std::uint32_t column : columns_of(pattern, row)) ++kept[column / 8];
      CHECK(kept == std::vector<std::uint32_t>{3, 3, 3, 3});
      rows.insert(columns_of(pattern, row));
    }
    CHECK(rows.size() == 50);
    CHECK(n_of_m_pattern(2, 9, 2, 4, 1).column.size() == 2 * (2 + 2 + 1));
    CHECK(n_of_m_pattern(2, 9, 0, 4, 1).column.empty());
  }

  TEST_CASE("a band holds what is near the diagonal from corner to corner") {
    const BlockPattern square = banded_pattern(5, 5, 1);
    CHECK(row_sizes(square) == std::vector<std::uint64_t>{2, 3, 3, 3, 2});
    CHECK(columns_of(square, 2) == std::vector<std::uint32_t>{1, 2, 3});
    CHECK(columns_of(banded_pattern(3, 9, 0), 2) == std::vector<std::uint32_t>{6});
    CHECK(columns_of(banded_pattern(9, 3, 0), 8) == std::vector<std::uint32_t>{2});
    CHECK(banded_pattern(4, 6, 100).column.size() == 24);
  }

  TEST_CASE("rows of one strip of a tile-wise pattern keep the same columns") {
    const BlockPattern pattern = tile_wise_pattern(70, 90, 16, 0.3, 3);
    row_sizes(pattern);
    std::uint64_t units = 0;
    for (std::uint32_t row = 0; row < 70; ++row) {
      CHECK(columns_of(pattern, row) == columns_of(pattern, row / 16 * 16));
      if (row % 16 == 0) units += columns_of(pattern, row).size();
    }
    CHECK(units == share_of(5ULL * 90, 0.3));
    CHECK(columns_of(pattern, 0) != columns_of(pattern, 16));
  }

  TEST_CASE("a flat butterfly keeps the blocks that its factors touch") {
    struct Mask {
      std::uint32_t m, k, block, size, factors, global;
    };
    for (const Mask& mask :
         {Mask{64, 64, 4, 16, 4, 0}, Mask{64, 128, 16, 16, 2, 0}, Mask{60, 36, 8, 4, 2, 5},
          Mask{96, 48, 1, 8, 1, 3}, Mask{32, 32, 16, 32, 5, 0}, Mask{32, 32, 4, 8, 3, 100}}) {
      CAPTURE(mask.m);
      CAPTURE(mask.block);
      const BlockPattern pattern =
          butterfly_pattern(mask.m, mask.k, mask.block, {mask.size, mask.factors, mask.global});
      row_sizes(pattern);
      std::set<std::pair<std::uint32_t, std::uint32_t>> touched;
      for (std::uint32_t i = 0; i < mask.m; ++i) {
        for (std::uint32_t j = 0; j < mask.k; ++j) {
          bool kept = i < mask.global || j < mask.global;
          // Factor f is block diagonal; each block, of size 2 x stride, has four diagonals.
          for (std::uint32_t f = 0; f < mask.factors; ++f) {
            const std::uint32_t p = i * mask.size / mask.m;
            const std::uint32_t q = j * mask.size / mask.k;
            const std::uint32_t stride = 1U << f;
            kept = kept || (p / (2 * stride) == q / (2 * stride) && p % stride == q % stride);
          }
          if (kept) touched.emplace(i / mask.block, j / mask.block);
        }
      }
      std::set<std::pair<std::uint32_t, std::uint32_t>> found;
      for (std::uint32_t row = 0; row < pattern.rows; ++row) {
        for (const std::uint32_t column : columns_of(pattern, row)) found.emplace(row, column);
      }
      CHECK(found == touched);
    }
  }

  TEST_CASE("a butterfly is as large as gives its entries a block") {
    CHECK(largest_butterfly(4096, 4096, 16) == 256);
    CHECK(largest_butterfly(4096, 1024, 16) == 64);
    CHECK(largest_butterfly(100, 60, 16) == 2);
    CHECK(largest_butterfly(100, 60, 1) == 4);
    CHECK(largest_butterfly(75, 131, 1) == 0);
  }
}
