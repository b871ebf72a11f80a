#include <doctest/doctest.h>

#include "tests/kernels/convnet/layer.h"

namespace tessera::convnet::tile_code {
namespace {

void check_layer(const Layer& layer, std::uint32_t seed, std::uint32_t parts = 1) {
  CAPTURE(seed);
  CAPTURE(layer.rows);
  CAPTURE(layer.columns);
  CAPTURE(layer.inputs);
  CAPTURE(layer.outputs);
  CAPTURE(layer.height);
  CAPTURE(layer.width);
  CAPTURE(layer.stride);
  CAPTURE(layer.kept);
  CAPTURE(parts);
  const Operands operands(layer, seed);
  const Outcome outcome = convolve(operands, parts);
  CHECK(outcome.y == operands.expected());
  CHECK_FALSE(outcome.beside);
}

Layer random_layer(std::mt19937& random) {
  const auto pick = [&](std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random() % (high - low + 1));
  };
  Layer layer{.rows = pick(1, 9),
              .columns = pick(2, 17),
              .inputs = 8 * pick(1, 6),
              .outputs = 8 * pick(1, 10)};
  layer.height = pick(1, 3);
  layer.width = pick(1, 3);
  layer.stride = pick(1, 2);
  layer.kept = pick(0, 1) == 0 ? 0 : pick(1, layer.inputs / 8);
  layer.shift = pick(0, 10);
  layer.relu = pick(0, 1) == 1;
  layer.slack = pick(0, 2);
  return layer;
}

/// Cycles over multiply-adds / 256.
double factor(const Layer& layer) {
  const Operands operands(layer, 1);
  const Outcome outcome = convolve(operands);
  CHECK(outcome.y == operands.expected());
  const double best = static_cast<double>(layer.macs()) / 256;
  MESSAGE(layer.rows, " x ", layer.columns, ", ", layer.inputs, " -> ", layer.outputs, ", ",
          layer.height, " x ", layer.width, ": ", outcome.cycles, " cycles, ", best,
          " at best; prepare ", outcome.prepare_cycles);
  return static_cast<double>(outcome.cycles) / best;
}

TEST_SUITE("unit") {
  TEST_CASE("every number of groups computes the convolution") {
    for (const std::uint32_t columns : {2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 14U, 28U}) {
      for (std::uint32_t rows = 1; rows <= 8; ++rows)
        for (const std::uint32_t outputs : {16U, 72U})
          check_layer({.rows = rows, .columns = columns, .inputs = 16, .outputs = outputs}, rows);
    }
  }

  TEST_CASE("odd numbers of steps, and one alone, keep the registers' turns") {
    for (const std::uint32_t inputs : {8U, 24U, 40U}) {
      for (const std::uint32_t outputs : {8U, 16U, 32U})
        check_layer({.rows = 3, .columns = 14, .inputs = inputs, .outputs = outputs}, inputs);
    }
    check_layer({.rows = 4, .columns = 7, .inputs = 24, .outputs = 24, .height = 3, .width = 3}, 3);
  }

  TEST_CASE("random layers, dense and sparse, with strides and pitches") {
    std::mt19937 random(11);
    for (std::uint32_t seed = 0; seed < 150; ++seed) check_layer(random_layer(random), seed);
  }

  TEST_CASE("sums go on over parts of the input channels") {
    std::mt19937 random(12);
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
      const Layer layer = random_layer(random);
      const std::uint32_t parts = 1 + seed % 3;
      if (layer.kept_planes() >= parts) check_layer(layer, seed, parts);
    }
  }
}

TEST_SUITE("timing") {
  TEST_CASE("256 multiply-adds a cycle, but for what patches and blocks begin and end with") {
    struct Case {
      Layer layer;
      double most;  ///< cycles over multiply-adds / 256
    };
    const Case cases[] = {
        {{.rows = 2, .columns = 14, .inputs = 256, .outputs = 16}, 1.2},
        {{.rows = 2, .columns = 14, .inputs = 256, .outputs = 64}, 1.13},
        {{.rows = 6, .columns = 14, .inputs = 64, .outputs = 16, .height = 3, .width = 3}, 1.09},
        {{.rows = 8, .columns = 14, .inputs = 64, .outputs = 16}, 1.75},
        {{.rows = 4, .columns = 16, .inputs = 64, .outputs = 64}, 1.4},
        {{.rows = 2, .columns = 28, .inputs = 8, .outputs = 16, .height = 7, .width = 7}, 1.21},
        {{.rows = 4, .columns = 7, .inputs = 128, .outputs = 16, .height = 3, .width = 3}, 1.2},
        {{.rows = 2, .columns = 7, .inputs = 128, .outputs = 16, .height = 3, .width = 3}, 1.61},
        {{.rows = 1, .columns = 4, .inputs = 128, .outputs = 8, .height = 3, .width = 3}, 4.95},
        {{.rows = 1, .columns = 4, .inputs = 128, .outputs = 64, .height = 3, .width = 3}, 1.4},
        {{.rows = 2, .columns = 2, .inputs = 512, .outputs = 64}, 1.5},
        {{.rows = 2, .columns = 4, .inputs = 256, .outputs = 32}, 1.5},
        {{.rows = 4, .columns = 4, .inputs = 256, .outputs = 16}, 1.5},
        {{.rows = 3, .columns = 4, .inputs = 256, .outputs = 16}, 1.55}};
    for (const Case& one : cases) CHECK(factor(one.layer) < one.most);
  }
}

}  // namespace
}  // namespace tessera::convnet::tile_code
