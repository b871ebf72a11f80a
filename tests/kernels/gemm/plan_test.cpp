#include <ctime>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "kernels/gemm/geometry.h"
#include "models/costs/measured_costs.h"
#include "sim/base/errors.h"
#include "sim/config/writers.h"
#include "tests/sanitized.h"
#include "tests/sim/machine/units.h"

using namespace tessera;
using namespace tessera::gemm;

namespace {

MachineConfig machine_of(std::uint32_t tiles, std::uint32_t sram_kib = 624) {
  MachineConfig machine{.name = "test", .tiles = tiles};
  machine.tile.sram_kib = sram_kib;
  machine.tile.matrix_unit = test::full_unit();
  return machine;
}

Candidate choose_plan(const Problem& problem, const MachineConfig& machine) {
  MeasuredCosts costs(machine);
  return gemm::choose_plan(problem, costs);
}

Candidate pinned_plan(const Plan& plan, const Problem& problem, const MachineConfig& machine) {
  MeasuredCosts costs(machine);
  return gemm::pinned_plan(plan, problem, costs);
}

Problem problem_of(std::uint32_t m, std::uint32_t n, std::uint32_t k, Type dtype = Type::f16) {
  return {.product = {m, n, k}, .dtype = dtype, .unit = test::full_unit()};
}

/// Calls visit(plan) for all plans on up to `tiles` tiles.
template <class Visit>
void for_all_plans(std::uint32_t tiles, const Visit& visit) {
  for (std::uint32_t m = 1; m <= tiles; ++m)
    for (std::uint32_t n = 1; m * n <= tiles; ++n)
      for (std::uint32_t k = 1; m * n * k <= tiles; ++k)
        for (const Stationary stationary : {Stationary::a, Stationary::b})
          for (const Stationary pairs : {Stationary::a, Stationary::b}) {
            Plan plan{.split_m = m, .split_n = n, .split_k = k, .cuts = 1};
            plan.stationary = stationary;
            plan.pairs = pairs;
            visit(plan);
          }
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("the chosen plan fits the machine and predicts what its parts add up to") {
    const std::vector<Product> products{{1, 1, 1},       {16, 16, 16},    {1000, 3, 700},
                                        {512, 512, 512}, {37, 4096, 129}, {2048, 64, 2048}};
    for (const std::uint32_t tiles : {1U, 7U, 16U, 1472U}) {
      for (const Product& product : products) {
        for (const Type dtype : {Type::f16, Type::f32}) {
          const MachineConfig machine = machine_of(tiles, tiles < 1000 ? 65536 : 624);
          const Problem problem = problem_of(product.m, product.n, product.k, dtype);
          const Candidate chosen = choose_plan(problem, machine);
          CHECK(chosen.tile_bytes <= machine.tile.sram_kib * 1024);
          CHECK(Geometry(problem, chosen.plan).tiles() <= tiles);
          const Prediction& p = chosen.prediction;
          CHECK(p.cycles == p.compute_cycles + p.exchange_cycles + p.sync_cycles);
          CHECK(pinned_plan(chosen.plan, problem, machine).prediction.cycles == p.cycles);
        }
      }
    }
  }

  TEST_CASE("no pinned plan is faster than the chosen one") {
    for (const Product& product : {Product{37, 48, 129}, {100, 16, 512}})
      for (const auto& [tiles, dtype] : {std::pair{6U, Type::f16}, {7U, Type::f32}}) {
        const Problem problem = problem_of(product.m, product.n, product.k, dtype);
        MeasuredCosts costs(machine_of(tiles));
        const Candidate chosen = gemm::choose_plan(problem, costs);
        for_all_plans(tiles, [&](Plan plan) {
          plan.partials = chosen.plan.partials;
          CAPTURE(config::resolved(plan).dump());
          CAPTURE(config::resolved(chosen.plan).dump());
          try {
            CHECK(chosen.prediction.cycles <=
                  gemm::pinned_plan(plan, problem, costs).prediction.cycles);
          } catch (const KeyError&) {  // more partitions than rows or blocks
          }
        });
      }
  }

  TEST_CASE("a large plan is found within seconds of the processor") {  // 0.8 to 1.6 measured
    const std::clock_t begin = std::clock();
    const Candidate chosen = choose_plan(problem_of(8192, 8192, 8192), machine_of(1472, 2048));
    CHECK(std::clock() - begin < (test::kSanitized ? 60 : 3) * CLOCKS_PER_SEC);
    CHECK(chosen.prediction.cycles > 0);
  }

  TEST_CASE("operands that no plan has room for are refused within seconds of the processor") {
    const std::clock_t begin = std::clock();
    CHECK_THROWS_WITH_AS(choose_plan(problem_of(4096, 4096, 16777215), machine_of(1472)),
                         doctest::Contains("no plan of gemm for m=4096 n=4096 k=16777215 fits"),
                         UserError);
    CHECK(std::clock() - begin < (test::kSanitized ? 100 : 5) * CLOCKS_PER_SEC);
  }
}
