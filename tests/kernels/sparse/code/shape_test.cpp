#include <doctest/doctest.h>

#include "kernels/sparse/code/relayout.h"

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

  TEST_CASE("panels cover what a tile holds, and their squares are done once by its workers") {
    const Chunked part{{160, 1000}, 8, 20, {}};
    const std::vector<Panel> panels = panels_of(part);
    std::uint64_t at = 160;
    for (const Panel& panel : panels) {
      CHECK(panel.offset == at - 160);
      CHECK(panel.row == at / 160 * 8);
      CHECK(panel.begin == at / 8 % 20);
      CHECK(panel.end <= 20);
      at += panel.width() * 8;
    }
    CHECK(at == 1000);
    std::uint64_t squares = 0;
    for (const auto& runs : transpositions(part, 2, Direction::to_blocks, 6)) {
      for (const SquareRun& run : runs) squares += run.squares;
    }
    CHECK(squares == 840 / 16);
  }
}
