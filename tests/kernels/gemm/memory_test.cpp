#include <vector>

#include <doctest/doctest.h>

#include "kernels/gemm/cost.h"
#include "kernels/gemm/gemm.h"
#include "models/costs/measured_costs.h"
#include "models/fabric/fabric.h"
#include "sim/program/image.h"

using namespace tessera;
using namespace tessera::gemm;

namespace {

MachineConfig machine_of(std::uint32_t tiles) {
  MachineConfig machine;
  machine.name = "test";
  machine.tiles = tiles;
  machine.tile.sram_kib = 624;
  return machine;
}

/// Parts large enough that tensors decide.
Options options_of(Product product, Layout layout, Type dtype, PartialsChoice partials) {
  Options options;
  options.product = product;
  options.layout = layout;
  options.dtype = dtype;
  options.partials = partials;
  return options;
}

void check_estimate(const Options& options, const MachineConfig& machine) {
  MeasuredCosts costs(machine);
  const Gemm gemm(options, costs);
  const auto exchanges = fabric::make_exchange_compiler(machine.fabric);
  const program::Images images = program::compile(gemm.build(), machine, *exchanges);
  const auto estimated = static_cast<double>(gemm.tile_bytes());
  const auto compiled = static_cast<double>(program::summarise_memory(images).max_bytes);
  CAPTURE(options.product.m);
  CAPTURE((options.layout == Layout::natural));
  CAPTURE((options.dtype == Type::f32));
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
          check_estimate(options_of(product, layout, Type::f16, PartialsChoice::automatic),
                         machine_of(tiles));
          check_estimate(options_of(product, layout, Type::f16, PartialsChoice::f32),
                         machine_of(tiles));
          check_estimate(options_of(product, layout, Type::f32, PartialsChoice::automatic),
                         machine_of(tiles));
        }
      }
    }
  }
}
