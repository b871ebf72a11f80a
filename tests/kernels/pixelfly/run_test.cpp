#include <memory>

#include <doctest/doctest.h>

#include "kernels/pixelfly/pixelfly.h"
#include "kernels/spmm_static/spmm_static.h"
#include "sim/base/errors.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/small_machine.h"
#include "tests/kernels/unit_shapes.h"

using namespace tessera;
using namespace tessera::pixelfly;
using program::Type;
using test::small_machine;

namespace {

using test::kTypes;
using test::Types;

Options layer(std::uint32_t m, std::uint32_t k, std::uint32_t rank, std::uint32_t n) {
  Options options;
  options.weights.m = m;
  options.weights.k = k;
  options.rank = rank;
  options.n = n;
  return options;
}

/// Runs one pass; returns "passed" or an error. With `off` the cycles must be within that share of
/// the prediction.
std::string run(const Options& options, const MachineConfig& machine,
                std::optional<double> off = {}) {
  test::WorkloadView<Workload> view;
  if (off) view = test::as_predicted(*off);
  return test::run_planned(
      options, machine, [&](MachineCosts& costs) { return make_pixelfly(options, costs); }, view);
}

std::unique_ptr<Workload> planned(Options options, Pass pass, const MachineConfig& machine) {
  options.pass = pass;
  MeasuredCosts costs(machine);
  return make_pixelfly(options, costs);
}

void take(Options& options, std::uint32_t block, const Types& types) {
  options.weights.block = block;
  options.weights.dtype = types.input;
  options.partials = types.partial;
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("gradients of weights run on units of every shape") {
    for (const Types& types : kTypes)
      for (const MachineConfig& machine : test::machines_of_every_shape(types, 12)) {
        MachineConfig of_it = machine;
        const MatrixShape unit = test::shape_of(of_it, types);
        Options options = layer(96, 64, 20, 40);
        options.pass = Pass::grad_weights;
        take(options, unit.outputs > 16 ? 4 : 16, types);
        if (unit.exists()) options.plan.products = Products::matrix_unit;
        CHECK(run(options, machine, 0.10) == "passed");
      }
  }

  TEST_CASE("a layer takes as long as S and both low-rank products for themselves, or less") {
    const MachineConfig machine = small_machine(64, 256);
    Options options = layer(1024, 1024, 32, 64);
    options.weights.block = 16;
    options.weights.dtype = Type::f16;
    const auto cycles_of = [&](std::uint32_t m, std::uint32_t k, sparse::Pattern pattern) {
      spmm_static::Options one;
      one.weights = options.weights;
      one.weights.m = m;
      one.weights.k = k;
      one.weights.pattern = pattern;
      one.weights.density = 1;
      one.n = options.n;
      return test::planned<spmm_static::SpmmStatic>(one, machine).prediction().cycles;
    };
    const std::uint64_t apart = cycles_of(1024, 1024, sparse::Pattern::butterfly) +
                                cycles_of(32, 1024, sparse::Pattern::uniform) +
                                cycles_of(1024, 32, sparse::Pattern::uniform);
    const auto together = planned(options, Pass::forward, machine)->prediction().cycles;
    CHECK(static_cast<double>(together) <= 1.1 * static_cast<double>(apart));
    CHECK(together > cycles_of(1024, 1024, sparse::Pattern::butterfly));
  }

  TEST_CASE("products that exceed SRAM are computed in rounds, until tiles are full") {
    const MachineConfig machine = small_machine(12, 64);
    Options options = layer(128, 128, 16, 0);
    options.weights.block = 16;
    options.weights.dtype = options.partials = Type::f16;
    std::uint64_t fullest = 0;
    for (std::uint32_t n = 200; n < 1600; n += 100) {
      options.n = n;
      CAPTURE(n);
      try {
        const auto pixelfly = planned(options, Pass::forward, machine);
        fullest = std::max(fullest, test::compiled_bytes(*pixelfly, machine));
      } catch (const UserError& error) {
        CAPTURE(std::string(error.what()));
        CHECK(n > 1000);  // X alone then takes a third of a tile
      }
    }
    CHECK(fullest > 60 * 1024);
  }
}
