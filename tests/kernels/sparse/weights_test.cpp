#include "kernels/sparse/weights.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <doctest/doctest.h>

#include "kernels/sparse/pattern.h"

using namespace tessera;
using namespace tessera::sparse;

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
      // Five standard deviations of a fair coin: a hypergeometric count strays less.
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

  TEST_CASE("a uniform W holds exactly the wanted blocks, whole inside the matrix") {
    for (const std::uint32_t block : {1U, 4U, 8U, 16U}) {
      CAPTURE(block);
      WeightOptions options;
      options.m = 75;
      options.k = 131;
      options.block = block;
      options.density = 0.3;
      const BlockMatrix w = make_weights(options);
      CHECK(w.rows == 75);
      CHECK(w.columns == 131);
      const std::uint64_t places = std::uint64_t{w.block_rows()} * w.block_columns();
      CHECK(w.blocks() == share_of(places, 0.3));
      std::uint64_t inside = 0;
      for (std::uint32_t row = 0; row < w.block_rows(); ++row) {
        for (std::uint64_t e = w.row_begin[row]; e < w.row_begin[row + 1]; ++e) {
          inside += std::uint64_t{std::min(block, 75 - row * block)} *
                    std::min(block, 131 - w.column[e] * block);
        }
      }
      CHECK(w.nonzeros == inside);
    }
  }

  TEST_CASE("density 1 gives the same dense matrix in every block size") {
    WeightOptions options;
    options.m = 21;
    options.k = 34;
    options.density = 1;
    const BlockMatrix dense = make_weights(options);
    CHECK(dense.nonzeros == 21 * 34);
    for (const std::uint32_t block : {4U, 8U, 16U}) {
      options.block = block;
      const BlockMatrix w = make_weights(options);
      CHECK(w.nonzeros == 21 * 34);
      for (std::uint32_t i = 0; i < 21; ++i) {
        for (std::uint32_t j = 0; j < 34; ++j) {
          const std::uint64_t e = w.row_begin[i / block] + j / block;
          CHECK(w.values(e)[i % block * block + j % block] == dense.value[i * 34 + j]);
        }
      }
    }
  }
}
