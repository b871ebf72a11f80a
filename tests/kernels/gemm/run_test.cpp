#include <doctest/doctest.h>

#include "kernels/gemm/gemm.h"
#include "tests/kernels/right.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/unit_shapes.h"

using namespace tessera;
using namespace tessera::gemm;

namespace {

using test::kTypes;
using test::shape_of;
using test::small_machine;
using test::Types;

Options shaped_options(const Product& product, const Types& types, Layout layout) {
  Options options;
  options.product = product;
  options.dtype = types.input;
  options.partials = types.partial;
  options.layout = layout;
  options.plan = Plan{.partials = types.partial};
  return options;
}

/// How much of the peak of the packed multiply-adds the product reaches while it computes.
double share_of_vector_peak(const Types& types, std::uint32_t macs_per_slot, bool dual_issue) {
  MachineConfig machine = small_machine(1);
  machine.tile.dual_issue = dual_issue;
  shape_of(machine, types).outputs = 0;
  const Product product{48, 64, 256};
  const std::string answer =
      test::run_workload<Gemm>(shaped_options(product, types, Layout::blocked), machine,
                               [](const RunResult& result, const Gemm&) {
                                 return fmt::format(" {}", result.time.compute.count());
                               });
  REQUIRE(answer.starts_with("passed "));
  return static_cast<double>(product.m) * product.n * product.k / macs_per_slot /
         std::stod(answer.substr(7));
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("points of the list `right` give the right results") { test::check_right("gemm"); }

  TEST_CASE("products are right for every shape that a matrix unit may have, and without one") {
    for (const Types& types : kTypes) {
      for (const MachineConfig& machine : test::machines_of_every_shape(types, 2)) {
        for (const Layout layout : {Layout::blocked, Layout::natural}) {
          Options options = shaped_options({37, 70, 130}, types, layout);
          options.plan->cuts = 2;
          CHECK(test::run_workload<Gemm>(options, machine) == "passed");
        }
      }
    }
  }

  TEST_CASE("a larger unit takes smaller blocks just as a unit of their shape does") {
    const auto view = [](const RunResult& result, const Gemm& product) {
      return fmt::format(" {} {} {}", result.time.total().count(), result.flops,
                         product.prediction().cycles);
    };
    for (const Types& types : kTypes) {
      MachineConfig large = small_machine(2);
      shape_of(large, types).inputs = shape_of(large, types).outputs = 64;
      for (const MachineConfig& machine : test::machines_of_every_shape(types, 2)) {
        MachineConfig own = machine;
        const MatrixShape unit = shape_of(own, types);
        const MatrixUnitConfig& of = large.tile.matrix_unit;
        if (!of.with_block(shape_of(large, types), unit.inputs, unit.outputs).exists()) continue;
        Options options = shaped_options({19, 40, 66}, types, Layout::blocked);
        const std::string expected = test::run_workload<Gemm>(options, own, {view});
        CHECK(expected.starts_with("passed "));
        options.plan->unit = {unit.inputs, unit.outputs};
        CAPTURE(unit.inputs);
        CAPTURE(unit.outputs);
        CHECK(test::run_workload<Gemm>(options, large, {view}) == expected);
      }
    }
  }

  TEST_CASE("every number of positions is right in few phases and in many, and on vector code") {
    for (const Types& types : kTypes) {
      for (const std::uint32_t outputs : {0U, 8U, 32U}) {
        MachineConfig machine = small_machine(1);
        shape_of(machine, types).inputs = 32;
        shape_of(machine, types).outputs = outputs;
        for (const std::uint32_t m : {1U, 5U, 6U, 7U, 12U, 13U, 18U, 23U, 24U, 31U, 90U}) {
          Options options = shaped_options({m, 40, 48}, types, Layout::blocked);
          CHECK(test::run_workload<Gemm>(options, machine) == "passed");
        }
      }
    }
  }

  TEST_CASE("without a matrix unit products come near the peak of packed multiply-adds") {
    CHECK(share_of_vector_peak({Type::f16, Type::f16}, 4, true) > 0.9);
    CHECK(share_of_vector_peak({Type::f32, Type::f32}, 2, true) > 0.9);
    // Five instructions for four of dot2.s.h: weights and inputs have to be paired.
    CHECK(share_of_vector_peak({Type::f16, Type::f32}, 4, true) > 0.72);
    CHECK(share_of_vector_peak({Type::f16, Type::f16}, 4, false) > 0.6);
  }
}
