#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/program.h"
#include "models/costs/measured_costs.h"
#include "sim/plan/lower.h"
#include "sim/program/image.h"
#include "tests/sim/machine/units.h"

using namespace tessera;
using namespace tessera::gemm;

namespace {

MachineConfig machine_with(std::uint32_t tiles) {
  MachineConfig machine{.name = "test", .tiles = tiles};
  machine.tile.sram_kib = 624;
  machine.tile.matrix_unit = test::full_unit();
  return machine;
}

/// A problem whose partitions are so large that tensors dominate the memory.
Problem problem_of(Product product, Layout layout, Type dtype, std::optional<Type> partials) {
  return {product, dtype, !partials, partials.value_or(dtype), layout, test::full_unit()};
}

void check_estimate(const Problem& problem, const MachineConfig& machine) {
  MeasuredCosts costs(machine);
  const Candidate chosen = choose_plan(problem, costs);
  const elf::KernelCode code("gemm");
  const Product& p = problem.product;
  const Operand a(p.m, p.k, problem.dtype, 1, 0);
  const Operand b(p.k, p.n, problem.dtype, 1, 1);
  const program::ResourceUsage usage = costs.resource_usage(
      plan::lower(described(problem, chosen.plan, machine, code, &a, &b).description));
  const auto estimated = static_cast<double>(chosen.tile_bytes);
  const auto compiled = static_cast<double>(usage.memory.max_bytes);
  CAPTURE(p.m);
  CAPTURE((problem.layout == Layout::natural));
  CAPTURE((problem.dtype == Type::f32));
  CAPTURE(machine.tiles);
  CHECK(estimated >= compiled);
  CHECK(estimated <= 1.05 * compiled);
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a plan's estimate of memory covers what is compiled, by five percent at most") {
    const std::vector<Product> products{{600, 600, 600}, {1024, 512, 600}, {300, 1300, 400}};
    for (const Product& product : products) {
      for (const Layout layout : {Layout::blocked, Layout::natural}) {
        for (const std::uint32_t tiles : {13U, 16U}) {
          check_estimate(problem_of(product, layout, Type::f16, {}), machine_with(tiles));
          check_estimate(problem_of(product, layout, Type::f16, Type::f32), machine_with(tiles));
          check_estimate(problem_of(product, layout, Type::f32, {}), machine_with(tiles));
        }
      }
    }
  }
}
