#include <functional>
#include <map>

#include <doctest/doctest.h>

#include "kernels/butterfly/butterfly.h"
#include "kernels/gemm/gemm.h"
#include "kernels/mlp/mlp.h"
#include "kernels/pixelfly/pixelfly.h"
#include "kernels/spmm_dynamic/spmm_dynamic.h"
#include "kernels/spmm_static/spmm_static.h"
#include "kernels/spmm_tilewise/spmm_tilewise.h"
#include "models/costs/measured_costs.h"
#include "tests/kernels/unit_shapes.h"

using namespace tessera;
using program::Type;
using test::kTypes;
using test::Types;

namespace {

/// Machines of so many tiles whose unit has, for these types and for f16 with f32 partials, none,
/// squares and oblongs; the latter has the largest of the unit's shapes that it may have.
std::vector<MachineConfig> growing_machines(const Types& types, std::uint32_t tiles) {
  constexpr std::pair<std::uint32_t, std::uint32_t> kUnits[] = {
      {4, 4}, {8, 8}, {16, 16}, {32, 32}, {64, 64}, {16, 64}, {64, 16}, {128, 128}};
  std::vector<MachineConfig> machines{test::small_machine(tiles)};
  MatrixUnitConfig& none = machines.front().tile.matrix_unit;
  none.f16.outputs = none.f16_f32.outputs = none.f32.outputs = 0;
  for (const auto& [inputs, outputs] : kUnits) {
    MachineConfig machine = machines.front();
    MatrixUnitConfig& unit = machine.tile.matrix_unit;
    for (MatrixShape* shape : {&test::shape_of(machine, types), &unit.f16_f32}) {
      shape->inputs = inputs;
      shape->outputs = outputs;
      while (shape != &test::shape_of(machine, types) && !shape->allowed()) shape->outputs /= 2;
    }
    if (test::shape_of(machine, types).allowed()) machines.push_back(machine);
  }
  return machines;
}

using Planner = std::function<std::uint64_t(const Types& types, MachineCosts& costs)>;

/// No larger unit takes more than a part in twenty longer than a smaller one, or none.
void check_larger(const Planner& cycles, std::uint32_t tiles = 16) {
  for (const Types& types : kTypes) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> taken;
    for (MachineConfig& machine : growing_machines(types, tiles)) {
      MeasuredCosts costs(machine);
      const MatrixShape& unit = test::shape_of(machine, types);
      const auto size = unit.exists() ? std::pair(unit.inputs, unit.outputs) : std::pair(0U, 0U);
      const std::uint64_t its = taken[size] = cycles(types, costs);
      for (const auto& known : taken) {
        const auto smaller = known.first;
        const std::uint64_t more = known.second;
        if (smaller.first <= size.first && smaller.second <= size.second)
          CHECK_MESSAGE(20 * its <= 21 * more, kernels::type_name(types.input, types.partial), ": ",
                        smaller.first, " x ", smaller.second, " takes ", more, ", ", size.first,
                        " x ", size.second, " ", its);
      }
    }
  }
}

template <class Options>
Options blocks_of(const Types& types, std::uint32_t block) {
  Options options;
  options.weights.m = options.weights.k = 128;
  options.weights.block = block;
  options.weights.density = 0.2;
  options.weights.dtype = types.input;
  options.partials = types.partial;
  options.n = 48;
  return options;
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("no larger matrix unit makes gemm slower") {
    for (const gemm::Product& product :
         {gemm::Product{50, 10, 257}, gemm::Product{128, 128, 128}, gemm::Product{512, 64, 256}})
      for (const kernels::Layout layout : {kernels::Layout::blocked, kernels::Layout::natural}) {
        CAPTURE(product.m);
        check_larger([&](const Types& types, MachineCosts& costs) {
          gemm::Options options;
          options.product = product;
          options.dtype = types.input;
          options.partials = types.partial;
          options.layout = layout;
          return gemm::Gemm(options, costs).prediction().cycles;
        });
      }
  }

  TEST_CASE("no larger matrix unit makes mlp slower") {
    check_larger([](const Types& types, MachineCosts& costs) {
      mlp::Options options;
      options.layers = {{mlp::LayerKind::dense, 24, 0, mlp::Activation::relu},
                        {mlp::LayerKind::dense, 10, 0, mlp::Activation::none}};
      options.data = {.width = 8, .height = 8, .samples = 40, .test_samples = 0};
      options.batch = 20;
      options.dtype = types.input;
      return mlp::Mlp(options, costs).prediction().cycles;
    });
  }

  TEST_CASE("no larger matrix unit makes spmm_tilewise slower") {
    check_larger([](const Types& types, MachineCosts& costs) {
      spmm_tilewise::Options options;
      options.m = 64;
      options.weights.k = 128;
      options.weights.n = 96;
      options.weights.dtype = types.input;
      options.partials = types.partial;
      return spmm_tilewise::SpmmTilewise(options, costs).prediction().cycles;
    });
  }

  TEST_CASE("no larger matrix unit makes sparse products in blocks slower") {
    for (const std::uint32_t block : {4U, 8U, 16U}) {
      CAPTURE(block);
      check_larger([&](const Types& types, MachineCosts& costs) {
        return spmm_static::SpmmStatic(blocks_of<spmm_static::Options>(types, block), costs)
            .prediction()
            .cycles;
      });
      check_larger([&](const Types& types, MachineCosts& costs) {
        return spmm_dynamic::SpmmDynamic(blocks_of<spmm_dynamic::Options>(types, block), costs)
            .prediction()
            .cycles;
      });
    }
  }

  TEST_CASE("no larger matrix unit makes pixelfly slower") {
    for (const pixelfly::Pass pass : {pixelfly::Pass::forward, pixelfly::Pass::grad_weights})
      check_larger([&](const Types& types, MachineCosts& costs) {
        auto options = blocks_of<pixelfly::Options>(types, 16);
        options.weights.density = 0;
        options.pass = pass;
        return pixelfly::make_pixelfly(options, costs)->prediction().cycles;
      });
  }

  TEST_CASE("no larger matrix unit makes butterfly slower") {
    for (const butterfly::Pass pass : {butterfly::Pass::forward, butterfly::Pass::grad_twiddles})
      check_larger([&](const Types& types, MachineCosts& costs) {
        butterfly::Options options;
        options.problem.features = 256;
        options.problem.block = 16;
        options.problem.n = 40;
        options.problem.dtype =
            types.input == Type::f16 ? butterfly::Number::f16 : butterfly::Number::f32;
        if (types.input == Type::f16) options.problem.partials = types.partial;
        options.problem.pass = pass;
        return butterfly::Butterfly(options, costs).prediction().cycles;
      });
  }
}
