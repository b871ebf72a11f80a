#include <algorithm>

#include <doctest/doctest.h>

#include "kernels/sparse/operand/pattern.h"
#include "kernels/sparse/operand/sources.h"

using namespace tessera;
using namespace tessera::sparse;

namespace {

double element(const data::SparseMatrix& w, std::uint32_t row, std::uint32_t column) {
  for (std::uint64_t e = w.row_begin[row]; e < w.row_begin[row + 1]; ++e) {
    if (w.column[e] == column) return w.value[e];
  }
  return 0;
}

/// Element (i, j) of the Laplacian, computed from grid coordinates.
double laplacian(std::uint32_t i, std::uint32_t j, std::uint32_t side, unsigned dimensions) {
  if (i == j) return 2.0 * dimensions;
  unsigned distance = 0;
  for (unsigned d = 0; d < dimensions; ++d) {
    const auto x = static_cast<int>(i % side);
    const auto y = static_cast<int>(j % side);
    distance += static_cast<unsigned>(std::abs(x - y));
    i /= side;
    j /= side;
  }
  return distance == 1 ? -1 : 0;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("Poisson matrices are the grid's Laplacian, cut off where the grid is larger") {
    for (const auto& [m, side, dimensions] :
         {std::tuple{25U, 5U, 2U}, {23U, 5U, 2U}, {1U, 1U, 2U}, {27U, 3U, 3U}, {50U, 4U, 3U}}) {
      const data::SparseMatrix w = poisson_matrix(m, dimensions);
      CHECK(w.row_begin.size() == w.rows + 1);
      for (std::uint32_t i = 0; i < w.rows; ++i) {
        const auto first = w.column.begin() + static_cast<std::ptrdiff_t>(w.row_begin[i]);
        CHECK(std::is_sorted(first,
                             w.column.begin() + static_cast<std::ptrdiff_t>(w.row_begin[i + 1])));
        for (std::uint32_t j = 0; j < w.rows; ++j) {
          CHECK(element(w, i, j) == laplacian(i, j, side, dimensions));
        }
      }
    }
  }

  TEST_CASE("R-MAT edges fall into the quadrants with Graph500's probabilities") {
    WeightOptions options;
    options.m = options.k = 1U << 14;
    options.density = 0x1p-11;
    const data::SparseMatrix w = rmat_matrix(options);
    const std::uint64_t drawn = share_of(std::uint64_t{options.m} * options.m, options.density);
    CHECK(w.entries() <= drawn);
    CHECK(w.entries() > drawn * 8 / 10);
    double quadrants[4] = {};
    for (std::uint32_t row = 0; row < w.rows; ++row) {
      for (std::uint64_t e = w.row_begin[row]; e < w.row_begin[row + 1]; ++e) {
        quadrants[(row >> 13) * 2 + (w.column[e] >> 13)] += 1 / static_cast<double>(w.entries());
      }
    }
    // Duplicate edges are dropped; the first quadrant has more of them.
    CHECK(quadrants[0] == doctest::Approx(0.56).epsilon(0.02));
    CHECK(quadrants[1] == doctest::Approx(0.195).epsilon(0.02));
    CHECK(quadrants[2] == doctest::Approx(0.195).epsilon(0.02));
    CHECK(quadrants[3] == doctest::Approx(0.052).epsilon(0.03));
    std::uint64_t longest = 0;
    for (std::uint32_t row = 0; row < w.rows; ++row) {
      longest = std::max(longest, w.row_begin[row + 1] - w.row_begin[row]);
    }
    CHECK(longest > 20 * w.entries() / w.rows);
  }

  TEST_CASE("R-MAT of any number of vertices names only those") {
    for (const std::uint32_t m : {1U, 2U, 3U, 77U, 1000U}) {
      WeightOptions options;
      options.m = options.k = m;
      options.density = 0.1;
      const data::SparseMatrix w = rmat_matrix(options);
      CHECK(w.entries() > 0);
      CHECK(*std::max_element(w.column.begin(), w.column.end()) < m);
      CHECK(w.row_begin.size() == m + 1);
    }
  }
}
