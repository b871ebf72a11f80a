#include "kernels/spmm_dynamic/plan.h"

#include <doctest/doctest.h>

#include "kernels/sparse/operand/weights.h"
#include "kernels/spmm_dynamic/bucket.h"
#include "kernels/spmm_dynamic/spmm_dynamic.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/small_machine.h"
#include "tests/refusal.h"

using namespace tessera;
using namespace tessera::spmm_dynamic;

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
  TEST_CASE("spilled blocks are stored in the nearest pool with room") {
    sparse::BlockMatrix w = skewed(8, 1);
    // All blocks in the first partition of a 1 x 4 grid; each has capacity for more than a quarter.
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
    CHECK(text.find(fmt::format("of {} blocks of 8 x 8 do not fit", w.blocks())) !=
          std::string::npos);
  }

  TEST_CASE("the machine states the cost of a row beside its elements") {
    const auto row_units = [](std::uint32_t block, const MachineConfig& machine) {
      const Options options{.weights = {.m = 192, .k = 192, .block = block}, .n = 96};
      return test::planned<SpmmDynamic>(options, machine).chosen().pool.row_units;
    };
    const MachineConfig machine = test::small_machine(16);
    MachineConfig slow = machine;
    slow.tile.slots.float_fma = 40;
    CHECK(row_units(16, machine) == 0);
    CHECK(row_units(1, machine) > 1);
    CHECK(row_units(1, slow) < row_units(1, machine) / 2);
  }

  TEST_CASE("the published planner cuts W and W^T alike, so that blocks stay on their tiles") {
    Options options;
    options.weights = {
        .m = 256, .k = 192, .block = 8, .density = 0.25, .dtype = program::Type::f16};
    options.n = 48;
    options.plan.algorithm = Algorithm::published;
    const auto grid = [&](Pass pass) {
      options.pass = pass;
      return test::planned<SpmmDynamic>(options, test::small_machine(40)).chosen().pool.grid;
    };
    const Grid forward = grid(Pass::forward), gradient = grid(Pass::grad_input);
    CHECK(forward.x * forward.y > 1);
    CHECK(gradient.x == forward.y);
    CHECK(gradient.y == forward.x);
    CHECK(gradient.z == forward.z);
    for (std::uint32_t i = 0; i < forward.x; ++i)
      for (std::uint32_t j = 0; j < forward.y; ++j)
        CHECK(forward.tile({i, j, forward.z - 1}) == gradient.tile({j, i, forward.z - 1}));
  }
}
