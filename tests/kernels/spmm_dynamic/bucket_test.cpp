#include "kernels/spmm_dynamic/bucket.h"

#include <doctest/doctest.h>

#include "kernels/sparse/operand/weights.h"
#include "kernels/spmm_dynamic/plan.h"
#include "tests/refusal.h"

using namespace tessera;
using namespace tessera::spmm_dynamic;
using sparse::Layout;

namespace {

sparse::BlockMatrix skewed(std::uint32_t block, std::uint64_t seed) {
  return sparse::make_weights({.m = 64 * block,
                               .k = 48 * block,
                               .block = block,
                               .pattern = sparse::Pattern::row_skewed,
                               .density = 0.1,
                               .seed = seed});
}

PoolShape pool_for(const sparse::BlockMatrix& w, const Shape& shape, const Grid& grid,
                   double headroom) {
  Problem problem{};
  problem.shape = shape;
  problem.block_rows = w.block_rows();
  problem.block_columns = w.block_columns();
  problem.n = grid.columns * grid.z;
  problem.max_blocks = w.blocks();
  problem.headroom = headroom;
  return pool_of(problem, grid, 6);
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("what spills lies as near as there is room") {
    sparse::BlockMatrix w = skewed(8, 1);
    // All blocks in the first partition of a grid of 1 x 4, each with room for a quarter and more.
    for (std::uint32_t& column : w.column) column %= 12;
    const PoolShape pool = pool_for(w, {8, program::Type::f16}, {1, 4, 1, 8}, 0.5);
    const Packing packing = pack(w, pool);
    CHECK(packing.pools[0].units == pool.units);
    CHECK(packing.pools[1].units == pool.units);
    CHECK(packing.pools[3].units == 0);
    CHECK(packing.load.y_steps == 2);
    CHECK(packing.load.x_steps == 0);
  }

  TEST_CASE("full buckets are refused with how full they are") {
    const sparse::BlockMatrix w = skewed(8, 1);
    PoolShape pool = pool_for(w, {8, program::Type::f16}, {4, 3, 1, 8}, 0);
    pool.units -= 1;
    const std::string text = test::refusal([&] { return pack(w, pool); });
    CHECK(text.starts_with("workload: the buckets are full"));
    CHECK(text.find(fmt::format("of {} blocks of 8 x 8 have no room", w.blocks())) !=
          std::string::npos);
  }
}
