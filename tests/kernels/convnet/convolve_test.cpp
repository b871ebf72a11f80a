#include <doctest/doctest.h>

#include "tests/kernels/convnet/layer.h"

namespace tessera::convnet::tile_code {
namespace {

void check_type(const Layer& layer, std::uint32_t seed, std::uint32_t parts) {
  INFO(layer.unit().name, ", seed ", seed, ", ", parts, " parts: ", layer.rows, " x ",
       layer.columns, ", ", layer.inputs, " -> ", layer.outputs, ", ", layer.height, " x ",
       layer.width, " by ", layer.stride, ", kept ", layer.kept);
  const Operands operands(layer, seed);
  const Outcome outcome = convolve(operands, parts);
  CHECK(outcome.y == operands.expected());
  if (!outcome.again.empty()) CHECK(outcome.again == operands.expected());
  CHECK_FALSE(outcome.beside);
}

/// In each type.
void check_layer(Layer layer, std::uint32_t seed, std::uint32_t parts = 1) {
  check_type(layer, seed, parts);
  layer.type = program::Type::bf16;
  check_type(layer, seed, parts);
  layer.type = program::Type::i16;
  layer.shift += 8;
  check_type(layer, seed, parts);
}

Layer random_layer(std::mt19937& random) {
  Layer layer = random_size(random);
  layer.outputs = 8 * pick(random, 1, 10);
  layer.kept = pick(random, 0, 1) == 0 ? 0 : pick(random, 1, layer.planes());
  layer.shift = pick(random, 0, 10);
  layer.relu = pick(random, 0, 1) == 1;
  return layer;
}

/// Cycles over multiply-adds / 256.
double factor(const Layer& layer) {
  const Operands operands(layer, 1);
  const Outcome outcome = convolve(operands);
  CHECK(outcome.y == operands.expected());
  const double best = static_cast<double>(layer.macs()) / 256;
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

  TEST_CASE("patches that are one another, moved, are a run of the table") {
    const Grid grid{8, 14, 16 * 8, 16 * 8};  // a patch of 6 groups and one of halves each two rows
    const PatchTable alone = patch_table(grid);
    const PatchTable runs = patch_table(grid, 1, true);
    CHECK(alone.patches == 4);
    CHECK_FALSE(alone.has_runs);
    CHECK(runs.patches == 4);
    CHECK(runs.groups == 28);
    CHECK(runs.has_runs);
    CHECK(runs.words.size() == 2 * 8 + 3 + 1);
    CHECK(std::vector(runs.words.end() - 4, runs.words.end()) ==
          std::vector<std::uint32_t>{4, 2 * 16 * 8, 2 * 16 * 8, ~0U});
    CHECK(patch_table({8, 2, 1000, 1000}, 1, true).has_runs == false);  // patches of 4 groups
  }

  TEST_CASE("runs of patches compute what patches alone do, with any last patch") {
    for (const std::uint32_t rows : {2U, 4U, 6U, 7U, 12U, 13U})
      for (const std::uint32_t columns : {10U, 14U, 16U, 24U, 28U})
        for (const std::uint32_t outputs : {8U, 24U})
          check_layer({.rows = rows,
                       .columns = columns,
                       .inputs = 32,
                       .outputs = outputs,
                       .height = rows % 2 == 0 ? 1U : 3U,
                       .width = columns % 4 == 0 ? 1U : 3U,
                       .slack = 1},
                      rows);
  }

  TEST_CASE("blocks of four steps, of six and of more go on from patch to patch") {
    for (const std::uint32_t columns : {20U, 24U, 28U, 32U})  // patches of 5 to 8 groups
      for (const std::uint32_t rows : {1U, 2U, 5U})
        for (const std::uint32_t outputs : {8U, 16U, 40U})
          for (const std::uint32_t kept : {4U, 6U, 8U, 0U})
            check_layer({.rows = rows,
                         .columns = columns,
                         .inputs = 80,
                         .outputs = outputs,
                         .kept = kept,
                         .slack = 1},
                        rows + outputs);
  }

  TEST_CASE("rows and planes without gaps are one row") {
    const Grid flat = flattened({5, 9, 9 * 8, 9 * 8, 3, 45 * 8, 45 * 8});
    CHECK(flat.rows == 1);
    CHECK(flat.planes == 1);
    CHECK(flat.columns == 5 * 9 * 3);
    CHECK(flattened({5, 9, 9 * 8, 10 * 8}).rows == 5);
    CHECK(flattened({5, 9, 11 * 8, 9 * 8}).rows == 5);
    CHECK(flattened({5, 9, 9 * 8, 9 * 8, 3, 45 * 8, 50 * 8}).planes == 3);
    CHECK(patch_table({2, 14, 14 * 8, 14 * 8}).groups == 7);
    CHECK(patch_table({5, 9, 9 * 8, 9 * 8}).groups == 12);  // 45 positions
  }

  TEST_CASE("four steps a turn compute sparse layers of few positions") {
    for (std::uint32_t columns = 2; columns <= 20; ++columns)
      for (const std::uint32_t kept : {4U, 8U, 12U})
        check_layer({.rows = columns <= 8 ? 2U : 1U,
                     .columns = columns,
                     .inputs = 128,
                     .outputs = 24,
                     .kept = kept,
                     .slack = 1},
                    columns);
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
  TEST_CASE("a call behind one like it takes 34 slots beside its products and ends of blocks") {
    for (const std::uint32_t kept : {0U, 16U})
      for (const std::uint32_t outputs : {16U, 64U}) {
        const Layer layer{
            .rows = 2, .columns = 14, .inputs = 256, .outputs = outputs, .kept = kept};
        const Outcome outcome = convolve(Operands(layer, 1));
        const std::uint64_t blocks = outputs / 8;
        CHECK(outcome.cycles_again <= layer.macs() / 256 + 11 * (blocks - 1) + 34);
        CHECK(outcome.cycles_again + 30 <= outcome.cycles);
      }
  }

  TEST_CASE("distances of kept planes are written in few cycles") {
    const Layer layer{.rows = 1, .columns = 8, .inputs = 1024, .outputs = 64, .kept = 64};
    const Outcome outcome = convolve(Operands(layer, 1));
    CHECK(outcome.prepare_cycles < 6 * 64 * 8);
    Layer dense = layer;
    dense.kept = 0;
    CHECK(convolve(Operands(dense, 1)).prepare_cycles < 128 * 8 + 64);
  }

  TEST_CASE("256 multiply-adds a cycle, but for what patches and blocks begin and end with") {
    struct Case {
      Layer layer;
      double most;  ///< cycles over multiply-adds / 256
    };
    const Case cases[] = {
        {{.rows = 2, .columns = 14, .inputs = 256, .outputs = 16}, 1.2},
        {{.rows = 2, .columns = 14, .inputs = 256, .outputs = 64}, 1.09},
        {{.rows = 6, .columns = 14, .inputs = 64, .outputs = 16, .height = 3, .width = 3}, 1.06},
        {{.rows = 8, .columns = 14, .inputs = 64, .outputs = 16}, 1.37},
        {{.rows = 4, .columns = 16, .inputs = 64, .outputs = 64}, 1.28},
        {{.rows = 2, .columns = 28, .inputs = 8, .outputs = 16, .height = 7, .width = 7}, 1.21},
        {{.rows = 4, .columns = 7, .inputs = 128, .outputs = 16, .height = 3, .width = 3}, 1.2},
        {{.rows = 2, .columns = 7, .inputs = 128, .outputs = 16, .height = 3, .width = 3}, 1.61},
        {{.rows = 1, .columns = 4, .inputs = 128, .outputs = 8, .height = 3, .width = 3}, 3.4},
        {{.rows = 1, .columns = 4, .inputs = 128, .outputs = 64, .height = 3, .width = 3}, 1.4},
        {{.rows = 2, .columns = 2, .inputs = 512, .outputs = 64}, 1.5},
        {{.rows = 2, .columns = 4, .inputs = 256, .outputs = 32}, 1.5},
        {{.rows = 4, .columns = 4, .inputs = 256, .outputs = 16}, 1.5},
        {{.rows = 3, .columns = 4, .inputs = 256, .outputs = 16}, 1.55},
        {{.rows = 1, .columns = 20, .inputs = 512, .outputs = 64}, 1.07},
        {{.rows = 1, .columns = 16, .inputs = 512, .outputs = 64, .kept = 32}, 1.15},
        {{.rows = 1, .columns = 12, .inputs = 512, .outputs = 64, .kept = 32}, 1.55},
        {{.rows = 1, .columns = 8, .inputs = 512, .outputs = 64, .kept = 32}, 1.8}};
    for (const Case& one : cases) CHECK(factor(one.layer) < one.most);
  }
}

}  // namespace
}  // namespace tessera::convnet::tile_code
