#include <doctest/doctest.h>

#include "kernels/spmm_dynamic/spmm_dynamic.h"
#include "kernels/spmm_static/spmm_static.h"
#include "kernels/spmm_tilewise/spmm_tilewise.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/unit_shapes.h"

using namespace tessera;
using kernels::Layout;
using test::kTypes;
using test::Types;

namespace {

/// Runs what `options_of` (types, block) says on every shape that the unit may have.
template <class Kernel, class OptionsOf>
void check_shapes(const OptionsOf& options_of, std::initializer_list<std::uint32_t> blocks) {
  for (const Types& types : kTypes) {
    for (const MachineConfig& machine : test::machines_of_every_shape(types, 3)) {
      const kernels::BlockShape unit =
          kernels::block_shape(machine.tile.matrix_unit, types.input, types.partial);
      if (!unit.on_unit()) continue;
      CAPTURE(unit.name());
      for (const std::uint32_t block : blocks) {
        CAPTURE(block);
        CHECK(test::run_workload<Kernel>(options_of(types, block), machine) == "passed");
      }
    }
  }
}

template <class Options>
Options blocks_of(const Types& types, std::uint32_t block) {
  Options options;
  options.weights.m = 6 * block - 1;
  options.weights.k = 5 * block;
  options.weights.block = block;
  options.weights.density = 0.4;
  options.weights.dtype = types.input;
  options.partials = types.partial;
  options.n = 21;
  return options;
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("spmm_static is right in blocks for every shape of the unit") {
    for (const Layout layout : {Layout::blocked, Layout::natural}) {
      check_shapes<spmm_static::SpmmStatic>(
          [&](const Types& types, std::uint32_t block) {
            auto options = blocks_of<spmm_static::Options>(types, block);
            options.layout = layout;
            if (layout == Layout::natural) options.plan = {spmm_static::Algorithm::published, 1, 2};
            return options;
          },
          {4, 8, 16});
    }
  }

  TEST_CASE("spmm_dynamic is right in blocks for every shape of the unit") {
    using spmm_dynamic::Pass;
    for (const Pass pass : {Pass::forward, Pass::grad_input}) {
      check_shapes<spmm_dynamic::SpmmDynamic>(
          [&](const Types& types, std::uint32_t block) {
            auto options = blocks_of<spmm_dynamic::Options>(types, block);
            options.pass = pass;
            if (pass == Pass::grad_input) options.layout = Layout::natural;
            return options;
          },
          {4, 8, 16});
    }
  }
}
