#include "kernels/spmm_dynamic/bucket.h"

#include <set>

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
  TEST_CASE("every block is packed once, within the room of the pools") {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      for (const std::uint32_t block : {1U, 8U}) {
        for (const bool values : {false, true}) {
          const sparse::BlockMatrix w = skewed(block, seed);
          const Shape shape{block, program::Type::f16, program::Type::f32, Layout::blocked, values};
          const PoolShape pool = pool_for(w, shape, {4, 3, 2, 8}, 0.3);
          const Packing packing = pack(w, pool);
          std::set<std::uint64_t> seen;
          std::uint64_t spilled = 0;
          for (std::uint32_t i = 0; i < packing.pools.size(); ++i) {
            const Pool& one = packing.pools[i];
            CHECK(one.units <= pool.units);
            CHECK(one.meta_words <= pool.meta_words);
            CHECK(pool_lists(w, pool, packing, i).size() == pool.meta_words);
            for_each_unit(pool, one, [&](std::uint32_t unit, std::uint64_t e) {
              CHECK(unit < one.units);
              seen.insert(e);
            });
            for (const SubGroup& group : one.groups) {
              if (group.partition == i) continue;
              for (const RowPart& row : group.rows) spilled += row.end - row.begin;
            }
          }
          CHECK(seen.size() == w.blocks());
          CHECK(spilled == packing.spilled_blocks);
          CHECK((spilled > 0) == (packing.load.x_steps + packing.load.y_steps > 0));
        }
      }
    }
  }

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
