#include "kernels/sparse/published/policy.h"

#include <doctest/doctest.h>

#include "tests/kernels/small_machine.h"

using namespace tessera;
using namespace tessera::spmm_static;
using namespace tessera::sparse::published;

namespace {

/// A square W of which one block in `sparsity` is nonzero, equally many in every block column.
Problem even_problem(const sparse::Shape& shape, std::uint32_t side, std::uint32_t sparsity,
                     std::uint32_t n) {
  const std::uint32_t blocks = side / shape.block;
  return {shape,
          blocks,
          blocks,
          n,
          std::uint64_t{blocks} * (blocks / sparsity),
          std::vector<std::uint32_t>(blocks, blocks / sparsity)};
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("the published planner comes to the totals worked out apart from it") {
    MachineConfig machine = test::small_machine(1472, 624);
    machine.fabric.receive_bytes_per_cycle = 4;
    machine.fabric.pair_sharing = true;
    const Type half = Type::f16;
    const Type full = Type::f32;
    struct Worked {
      sparse::Shape shape;
      std::uint32_t side, sparsity, n;
      Cuts cuts;
      std::uint64_t cycles;
    };
    // Rows of configs/validation/planner_static.json.
    const Worked worked[] = {{{16, half, half}, 1024, 4, 64, {3, 16}, 2396},
                             {{16, half, half}, 1024, 4, 256, {8, 8}, 5517},
                             {{16, half, half}, 4096, 16, 16, {1, 16}, 2780},
                             {{16, half, half}, 4096, 16, 256, {4, 42}, 19994},
                             {{8, half, half}, 1024, 16, 64, {4, 8}, 1685},
                             {{8, half, half}, 4096, 16, 64, {1, 80}, 9209},
                             {{4, half, half}, 4096, 16, 64, {1, 21}, 14119},
                             {{1, half, half}, 1024, 16, 64, {8, 5}, 2496},
                             {{1, half, half}, 4096, 16, 64, {8, 4}, 23945},
                             {{16, full, full}, 1024, 4, 64, {4, 19}, 5632},
                             {{1, full, full}, 4096, 16, 64, {4, 8}, 48179}};
    for (const Worked& each : worked) {
      CAPTURE(each.cycles);
      const Problem problem = even_problem(each.shape, each.side, each.sparsity, each.n);
      const Policy policy(machine);
      const auto expected = policy.expect(problem, each.cuts);
      REQUIRE(expected);
      CHECK(expected->cycles == each.cycles);
      const auto found = policy.static_cuts(problem, {0, 0});
      REQUIRE(found.cuts);
      CHECK(*found.cuts == each.cuts);
    }
  }

  TEST_CASE("the published estimates are those of the worked examples") {
    const auto elements = [](Type type, std::uint64_t rows, std::uint64_t width) {
      return product_cycles({1, type, type}, rows, 16, width, 6);
    };
    CHECK(elements(Type::f16, 1, 4) == 408);
    CHECK(elements(Type::f16, 1, 8) == 504);
    CHECK(elements(Type::f16, 1, 64) == 3096);
    CHECK(elements(Type::f32, 1, 64) == 5538);
    CHECK(elements(Type::f16, 16, 64) == 46566);
    CHECK(elements(Type::f16, 16, 8) == 5274);
    CHECK(elements(Type::f32, 16, 64) == 85818);
    const auto blocks = [](std::uint32_t block, Type type) {
      return product_cycles({block, type, type}, 8, 4, 64, 6);
    };
    CHECK(blocks(4, Type::f16) == 5564);
    CHECK(blocks(4, Type::f32) == 11044);
    CHECK(blocks(8, Type::f16) == 7844);
    CHECK(blocks(8, Type::f32) == 20980);
    CHECK(blocks(16, Type::f16) == 14180);
    CHECK(blocks(16, Type::f32) == 49990);
    CHECK(zeroing_cycles({8, Type::f32, Type::f32}, 4096, 6) == 588);
    CHECK(zeroing_cycles({4, Type::f32, Type::f32}, 4096, 6) == 0);
    CHECK(adding_cycles({8, Type::f16, Type::f16}, 1024, 8, 6) == 2868);
    CHECK(adding_cycles({8, Type::f32, Type::f32}, 1024, 8, 6) == 4740);
    CHECK(adding_cycles({8, Type::f16, Type::f16}, 1024, 2, 6) == 2076);
    CHECK(adding_cycles({8, Type::f16, Type::f16}, 1024, 1, 6) == 0);
  }
}
