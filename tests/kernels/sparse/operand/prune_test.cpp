#include <doctest/doctest.h>

#include "kernels/sparse/operand/block_matrix.h"
#include "kernels/sparse/operand/weights.h"

using namespace tessera;
using namespace tessera::sparse;

namespace {

double square(const BlockMatrix& w, std::uint64_t e) {
  double sum = 0;
  for (const float value : w.values(e))
    sum += static_cast<double>(value) * static_cast<double>(value);
  return sum;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("the blocks of the largest norm stay, with their values") {
    WeightOptions options;
    options.m = 40;
    options.k = 60;
    options.block = 8;
    options.density = 1;
    const BlockMatrix w = make_weights(options);
    const BlockMatrix pruned = pruned_to_blocks(w, 0.25);
    CHECK(pruned.blocks() == 10);
    double least = 1e9;
    for (std::uint64_t e = 0; e < pruned.blocks(); ++e) least = std::min(least, square(pruned, e));
    std::uint64_t larger = 0;
    std::uint64_t same = 0;
    for (std::uint32_t row = 0; row < w.block_rows(); ++row) {
      for (std::uint64_t e = w.row_begin[row]; e < w.row_begin[row + 1]; ++e) {
        larger += square(w, e) >= least ? 1 : 0;
        for (std::uint64_t p = pruned.row_begin[row]; p < pruned.row_begin[row + 1]; ++p) {
          if (pruned.column[p] != w.column[e]) continue;
          const auto values = pruned.values(p);
          same += std::equal(values.begin(), values.end(), w.values(e).begin()) ? 1 : 0;
        }
      }
    }
    CHECK(larger == 10);
    CHECK(same == 10);
  }

  TEST_CASE("of equal blocks the first stay, and zeros do not count") {
    const BlockMatrix w =
        to_blocks(data::from_entries(8, 8, {{0, 0, 2}, {0, 4, -2}, {4, 0, 2}, {7, 7, 1}}), 4);
    const BlockMatrix pruned = pruned_to_blocks(w, 0.5);
    CHECK(pruned.row_begin == std::vector<std::uint64_t>{0, 2, 2});
    CHECK(pruned.nonzeros == 2);
    CHECK(pruned_to_blocks(w, 1).nonzeros == 4);
    CHECK(pruned_to_blocks(w, 0).blocks() == 0);
  }
}
