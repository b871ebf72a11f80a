#include <doctest/doctest.h>

#include "kernels/spmm_dynamic/spmm_dynamic.h"
#include "kernels/spmm_static/spmm_static.h"
#include "kernels/spmm_tilewise/spmm_tilewise.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/unit_shapes.h"

using namespace tessera;
using kernels::Layout;
using program::Type;
using test::kTypes;
using test::Types;

namespace {

/// Runs what `options_of` (types, block, variant) says on every shape that the unit may have, the
/// two variants by turns: each meets every shape, and every block.
template <class Kernel, class OptionsOf>
void check_shapes(const OptionsOf& options_of, std::initializer_list<std::uint32_t> blocks) {
  bool variant = false;
  for (const Types& types : kTypes) {
    for (const MachineConfig& machine : test::machines_of_every_shape(types, 3)) {
      for (const std::uint32_t block : blocks) {
        CHECK(test::run_workload<Kernel>(options_of(types, block, variant), machine) == "passed");
        variant = !variant;
      }
    }
  }
}

template <class Options>
Options blocks_of(const Types& types, std::uint32_t block) {
  Options options;
  options.weights = {
      .m = 6 * block - 1, .k = 5 * block, .block = block, .density = 0.4, .dtype = types.input};
  options.partials = types.partial;
  options.n = 21;
  return options;
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("spmm_static is right in blocks for every shape of the unit, and without one") {
    check_shapes<spmm_static::SpmmStatic>(
        [](const Types& types, std::uint32_t block, bool natural) {
          auto options = blocks_of<spmm_static::Options>(types, block);
          if (natural) options.layout = Layout::natural;
          if (natural) options.plan = {spmm_static::Algorithm::published, 1, 2};
          return options;
        },
        {4, 8, 16});
  }

  TEST_CASE("spmm_dynamic is right in blocks for every shape of the unit, and without one") {
    using spmm_dynamic::Pass;
    check_shapes<spmm_dynamic::SpmmDynamic>(
        [](const Types& types, std::uint32_t block, bool gradient) {
          auto options = blocks_of<spmm_dynamic::Options>(types, block);
          if (gradient) options.pass = Pass::grad_input;
          if (gradient) options.layout = Layout::natural;
          return options;
        },
        {4, 8, 16});
  }

  TEST_CASE("spmm_tilewise is right for every shape of the unit, and without one") {
    check_shapes<spmm_tilewise::SpmmTilewise>(
        [](const Types& types, std::uint32_t granularity, bool) {
          spmm_tilewise::Options options;
          options.m = 53;
          options.weights.k = 71;
          options.weights.n = 77;
          options.weights.dtype = types.input;
          options.weights.pruning.sparsity = 0.6;
          options.weights.pruning.granularity = granularity;
          options.weights.pruning.method = spmm_tilewise::Method::tew;
          if (types.partial == Type::f32) options.partials = Type::f32;
          return options;
        },
        {24});
  }

  TEST_CASE("every number of columns is right on vector code") {
    for (const Types& types : kTypes) {
      MachineConfig machine = test::small_machine(1);
      test::shape_of(machine, types).outputs = 0;
      for (const std::uint32_t block : {4U, 8U, 16U}) {
        for (const std::uint32_t n : {1U, 4U, 6U, 13U, 18U, 24U, 31U, 44U}) {
          auto known = blocks_of<spmm_static::Options>(types, block);
          auto given = blocks_of<spmm_dynamic::Options>(types, block);
          known.n = given.n = n;
          CHECK(test::run_workload<spmm_static::SpmmStatic>(known, machine) == "passed");
          CHECK(test::run_workload<spmm_dynamic::SpmmDynamic>(given, machine) == "passed");
        }
      }
    }
  }
}
