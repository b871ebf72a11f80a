#include "kernels/spmm_dynamic/plan.h"

#include <doctest/doctest.h>

#include "kernels/spmm_dynamic/spmm_dynamic.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using namespace tessera::spmm_dynamic;

namespace {

using test::small_machine;

Options options_of(std::uint32_t block, program::Type dtype, Pass pass) {
  Options options;
  options.weights = {
      .m = 32 * block, .k = 24 * block, .block = block, .density = 0.25, .dtype = dtype};
  if (block == 1) options.weights.m = options.weights.k = 192;
  options.n = 96;
  options.pass = pass;
  return options;
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("what workers take for a row beside its elements is the machine's to say") {
    const auto row_units = [](std::uint32_t block, const MachineConfig& machine) {
      const Options options = options_of(block, program::Type::f32, Pass::forward);
      return test::planned<SpmmDynamic>(options, machine).chosen().pool.row_units;
    };
    const MachineConfig machine = small_machine(16);
    MachineConfig slow = machine;
    slow.tile.slots.float_fma = 40;
    CHECK(row_units(16, machine) == 0);
    CHECK(row_units(1, machine) > 1);
    CHECK(row_units(1, slow) < row_units(1, machine) / 2);
  }

  TEST_CASE("what is predicted is for the pattern that is given, whoever planned") {
    Options options = options_of(16, program::Type::f16, Pass::forward);
    options.plan = {Algorithm::published, 4, 3, 2};
    const MachineConfig machine = small_machine(24);
    const auto published = test::planned<SpmmDynamic>(options, machine);
    options.plan.algorithm = Algorithm::best;
    options.plan.z = 0;
    const auto best = test::planned<SpmmDynamic>(options, machine);
    CHECK(published.chosen().prediction.cycles < published.prediction().cycles);  // even patterns
    CHECK(published.packing(0).most_blocks == best.packing(0).most_blocks);
    CHECK(published.packing(0).most_blocks * 12 > published.packing(0).blocks);
  }

  TEST_CASE("the published planner cuts W and W^T alike, into parts that all have something") {
    Options options = options_of(8, program::Type::f16, Pass::forward);
    options.n = 48;
    options.plan.algorithm = Algorithm::published;
    const MachineConfig machine = small_machine(40, 256);
    const Grid forward = test::planned<SpmmDynamic>(options, machine).chosen().pool.grid;
    options.pass = Pass::grad_input;
    const Grid gradient = test::planned<SpmmDynamic>(options, machine).chosen().pool.grid;
    CHECK(forward.x * forward.y > 1);
    CHECK(gradient.x == forward.y);
    CHECK(gradient.y == forward.x);
    CHECK(gradient.z == forward.z);
    CHECK(48 % forward.z == 0);
    CHECK(ceil_div(32U, ceil_div(32U, forward.x)) == forward.x);
    CHECK(ceil_div(24U, ceil_div(24U, forward.y)) == forward.y);
    for (std::uint32_t i = 0; i < forward.x; ++i) {
      for (std::uint32_t j = 0; j < forward.y; ++j)
        CHECK(forward.tile({i, j, forward.z - 1}) == gradient.tile({j, i, forward.z - 1}));
    }
  }

  TEST_CASE("published buckets have room for the lists of their whole partition each") {
    Options options = options_of(8, program::Type::f16, Pass::forward);
    options.plan = {Algorithm::best, 2, 2, 3};
    const MachineConfig machine = small_machine(12, 256);
    const PoolShape best = test::planned<SpmmDynamic>(options, machine).chosen().pool;
    options.plan.algorithm = Algorithm::published;
    const PoolShape published = test::planned<SpmmDynamic>(options, machine).chosen().pool;
    CHECK(published.units == best.units);
    // 16 rows of 12 places at a density of 1/4, 3 blocks a row, 0.3 more; 2 heads of 5 words.
    CHECK(published.meta_words == 3 * (2 * 5 + 104));
    CHECK(best.meta_words < published.meta_words);
  }
}
