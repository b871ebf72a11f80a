#include <bit>
#include <memory>

#include <doctest/doctest.h>

#include "kernels/pixelfly/pixelfly.h"
#include "kernels/spmm_static/spmm_static.h"
#include "sim/base/errors.h"
#include "tests/kernels/planned.h"
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
constexpr std::uint32_t kBlocks[] = {1, 4, 8, 16};
constexpr Pass kPasses[] = {Pass::forward, Pass::grad_input, Pass::grad_weights};

Options layer(std::uint32_t m, std::uint32_t k, std::uint32_t rank, std::uint32_t n) {
  Options options;
  options.weights.m = m;
  options.weights.k = k;
  options.rank = rank;
  options.n = n;
  return options;
}

/// Runs one pass; "passed", or what went wrong; with `off` its cycles have to be the predicted ones
/// but for such a share.
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

enum class Covered { all, pairs };

/// Runs the layer in all passes, blocks and types, or so that every two of them meet, on an even
/// and an odd number of tiles.
void check_all(Options options, Covered covered = Covered::all) {
  for (const Pass pass : kPasses)
    for (const std::uint32_t block : kBlocks)
      for (const Types& types : kTypes) {
        const auto other = static_cast<std::ptrdiff_t>(pass) + std::countr_zero(block);
        if (covered == Covered::pairs && other % 3 != &types - kTypes) continue;
        options.pass = pass;
        take(options, block, types);
        CHECK(run(options, small_machine(block > 4 ? 12 : 11, 128)) == "passed");
      }
}

/// The same of grad_weights with what multiplies pinned.
void check_products(Options options, Products products) {
  options.pass = Pass::grad_weights;
  options.plan.products = products;
  for (const std::uint32_t block : {4U, 8U, 16U})
    for (const Types& types : kTypes) {
      take(options, block, types);
      CHECK(run(options, small_machine(12, 128)) == "passed");
    }
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("gradients take no longer on a unit of more inputs") {
    Options options = layer(60, 300, 0, 1);
    options.weights.block = 16;
    options.weights.dtype = Type::f16;
    options.partials = Type::f32;
    options.pass = Pass::grad_weights;
    const auto cycles = [&](std::uint32_t inputs) {
      MachineConfig machine = small_machine(23, 64);
      machine.tile.issue = IssueKind::single;
      machine.tile.contexts = 1;
      machine.tile.matrix_unit.f16_f32.inputs = inputs;
      machine.tile.matrix_unit.f16_f32.outputs = 8;
      return planned(options, Pass::grad_weights, machine)->prediction().cycles;
    };
    CHECK(cycles(32) <= cycles(8));
  }

  TEST_CASE("gradients of a low rank take no longer on a unit of more inputs") {
    Options options = layer(200, 90, 20, 1);
    options.weights.block = 16;
    options.weights.dtype = Type::f32;
    options.pass = Pass::grad_weights;
    const auto cycles = [&](std::uint32_t inputs) {
      MachineConfig machine = small_machine(40, 64);
      machine.tile.issue = IssueKind::revolver;
      machine.tile.reissue_cycles = 6;
      machine.tile.slots.plain = 2;
      machine.tile.contexts = 1;
      machine.tile.latency.load = machine.tile.latency.matrix = 11;
      machine.fabric.send_bytes_per_cycle = machine.fabric.receive_bytes_per_cycle = 8;
      machine.tile.matrix_unit.f32.inputs = inputs;
      machine.tile.matrix_unit.f32.outputs = 16;
      return planned(options, Pass::grad_weights, machine)->prediction().cycles;
    };
    CHECK(cycles(32) <= cycles(8));
  }

  TEST_CASE("gradients of vector code take the predicted cycles where workers compete") {
    MachineConfig machine = small_machine(4);
    machine.tile.matrix_unit = {};
    machine.tile.issue = IssueKind::interleaved;
    machine.tile.latency.load = 11;
    Options options = layer(60, 120, 0, 150);
    options.weights.block = 4;
    options.weights.dtype = Type::f32;
    options.pass = Pass::grad_weights;
    CHECK(run(options, machine, 0.02) == "passed");
  }

  TEST_CASE("layers of every block and type give the right products") {
    check_all(layer(64, 64, 16, 20));
  }

  TEST_CASE("sizes that blocks do not divide, ranks too, and a batch of one do as well") {
    check_all(layer(100, 44, 5, 1), Covered::pairs);
    check_all(layer(36, 92, 19, 7));
  }

  TEST_CASE("rows in, rows out: layout natural does as well") {
    Options options = layer(64, 96, 12, 13);
    options.layout = kernels::Layout::natural;
    check_all(options);
  }

  TEST_CASE("gamma weighs S against U V^T in every pass, block and type") {
    Options options = layer(64, 64, 16, 20);
    options.gamma = 0.3;
    check_all(options);
    options = layer(100, 44, 5, 7);
    for (const double gamma : {0.0, 0.75, 1.0}) {
      options.gamma = gamma;
      check_all(options, Covered::pairs);
    }
    options = layer(48, 48, 0, 9);
    options.gamma = 0.6;
    options.layout = kernels::Layout::natural;
    check_all(options, Covered::pairs);
  }

  TEST_CASE("gradients of weights come out right on the unit and in vector code") {
    for (const Products products : {Products::matrix_unit, Products::vector}) {
      check_products(layer(64, 64, 16, 20), products);
      check_products(layer(100, 44, 5, 1), products);
      check_products(layer(36, 92, 19, 40), products);
      Options rows = layer(64, 96, 12, 33);
      rows.layout = kernels::Layout::natural;
      check_products(rows, products);
      Options cut = layer(96, 64, 8, 50);
      cut.weights.global = 3;
      cut.plan.dw = {3, 2};
      cut.plan.dv = {2, 1};
      check_products(cut, products);
      check_products(layer(48, 48, 0, 9), products);
    }
  }

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

  TEST_CASE("the planner takes the unit where it is faster, in half the time here") {
    const MachineConfig machine = small_machine(64, 256);
    Options options = layer(512, 512, 32, 128);
    options.pass = Pass::grad_weights;
    options.weights.block = 16;
    options.weights.dtype = Type::f16;
    const auto cycles = [&](Products products) {
      options.plan.products = products;
      return planned(options, Pass::grad_weights, machine)->prediction().cycles;
    };
    CHECK(cycles(Products::best) == cycles(Products::matrix_unit));
    CHECK(2 * cycles(Products::matrix_unit) < cycles(Products::vector));
  }

  TEST_CASE("a layer without a low-rank term is S alone") {
    check_all(layer(48, 48, 0, 9), Covered::pairs);
  }

  TEST_CASE("few factors, global rows and columns and pinned cuts give the right products") {
    Options options = layer(96, 64, 8, 24);
    options.weights.butterfly_size = 8;
    options.weights.factors = 1;
    options.weights.global = 3;
    options.plan.low_rank.parts = 2;
    options.plan.low_rank.bands = 3;
    options.plan.sparse.parts = 3;
    options.plan.sparse.bands = 2;
    options.plan.dw = {3, 2};
    options.plan.dv = {2, 1};
    check_all(options);
    options.plan.sparse = {};
    options.plan.low_rank = {};
    options.plan.sparse.algorithm = spmm_static::Algorithm::published;
    options.plan.low_rank.algorithm = spmm_static::Algorithm::published;
    check_all(options, Covered::pairs);
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

  TEST_CASE("cycles are predicted within 10 % of those of the run, with gamma and without") {
    for (const Pass pass : kPasses)
      for (const Types& types : kTypes) {
        Options options = layer(512, 256, 32, 40);
        options.pass = pass;
        take(options, 16, types);
        CHECK(run(options, small_machine(24, 256), 0.10) == "passed");
        options.gamma = 0.6;
        for (const std::uint32_t block : {1U, 16U}) {
          options.weights.block = block;
          CHECK(run(options, small_machine(24, 256), 0.10) == "passed");
        }
      }
  }

  TEST_CASE("a batch in rounds gives the right products, W brought once") {
    for (const kernels::Layout layout : {kernels::Layout::blocked, kernels::Layout::natural}) {
      Options options = layer(64, 96, 12, 45);
      options.layout = layout;
      options.weights.block = 8;
      if (layout == kernels::Layout::natural) options.gamma = 0.6;
      for (const std::uint32_t parts : {1U, 3U})
        for (const std::uint32_t rounds : {2U, 3U, 11U})
          for (const Pass pass : {Pass::forward, Pass::grad_input}) {
            options.pass = pass;
            options.plan.rounds = rounds;
            options.plan.sparse.parts = options.plan.low_rank.parts = rounds == 11 ? 1 : parts;
            CHECK(run(options, small_machine(12, 128), 0.10) == "passed");
          }
    }
  }

  TEST_CASE("what does not fit at once is computed in rounds, until tiles are full") {
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
        CHECK(n > 1000);  // X alone takes a third of a tile then
      }
    }
    CHECK(fullest > 60 * 1024);
  }

  TEST_CASE("a plan fits the tiles however small they are, or is refused") {
    for (const std::uint32_t block : kBlocks) {
      Options options = layer(192, 128, 24, 40);
      options.weights.block = block;
      for (const std::uint32_t sram_kib : {24U, 32U, 64U}) {
        CAPTURE(block);
        CAPTURE(sram_kib);
        const MachineConfig machine = small_machine(30, sram_kib);
        for (const Pass pass : {Pass::forward, Pass::grad_weights})
          if (pass == Pass::forward || sram_kib >= 64)
            CHECK_NOTHROW(test::compiled_bytes(*planned(options, pass, machine), machine));
      }
      CHECK_THROWS_AS(planned(options, Pass::forward, small_machine(2, 16)), UserError);
      CHECK_THROWS_AS(planned(options, Pass::grad_weights, small_machine(2, 16)), UserError);
    }
  }
}
