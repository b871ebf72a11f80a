#include <doctest/doctest.h>

#include "kernels/gemm/gemm.h"
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

}  // namespace

TEST_SUITE("run") {
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
}
