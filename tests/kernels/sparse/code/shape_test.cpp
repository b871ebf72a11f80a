#include "kernels/sparse/code/shape.h"

#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::sparse;

namespace {

/// Blocks of f16 on a unit of so many inputs and outputs; 0: without one.
Shape half_shape(std::uint32_t block, std::uint32_t inputs, std::uint32_t outputs) {
  MatrixUnitConfig unit;
  unit.f16.inputs = inputs;
  unit.f16.outputs = outputs;
  return {.block = block,
          .partials = Type::f16,
          .unit = kernels::block_shape(unit, Type::f16, Type::f16)};
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a block is several runs on a smaller unit, one on a part of a larger one") {
    const Shape small = half_shape(16, 4, 8);
    CHECK(small.input_runs() == 4);
    CHECK(small.output_runs() == 2);
    CHECK(small.name() == "16_f16_4x8");
    const Shape large = half_shape(8, 32, 64);
    CHECK(large.input_runs() * large.output_runs() == 1);
    CHECK(large.x_depth() == 8);
    CHECK(half_shape(4, 16, 16).unroll() == 2);  // of one instruction each
    CHECK(half_shape(4, 4, 8).unroll() == 1);
  }

  TEST_CASE("a unit rounds the sums of a run, packed code those of every product") {
    CHECK(half_shape(16, 16, 16).summed() == 16);
    CHECK(half_shape(16, 8, 8).summed() == 8);
    CHECK(half_shape(8, 16, 0).summed() == 1);
    CHECK_FALSE(half_shape(8, 16, 0).on_unit());
  }
}
