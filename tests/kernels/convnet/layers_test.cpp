#include <random>

#include <doctest/doctest.h>

#include "tests/cli/command.h"
#include "tests/kernels/convnet/arrays.h"
#include "tests/kernels/run_workload.h"

/// Results of a layer's tile code on one core; its inputs come from a preceding convolution.
namespace tessera::convnet {
namespace {

struct Case {
  std::uint32_t rows, columns;    ///< of the output
  std::uint32_t inputs, outputs;  ///< channels
  std::uint32_t height = 1, width = 1, stride = 1;
  double sparsity = 0;
  bool relu = false;
  Operator op = Operator::convolution;
  Mapping mapping = {};  ///< `group` is for int8

  /// The text of the network file.
  [[nodiscard]] std::string text() const {
    test::Json layers, layer{{"op", config::name_of(kOperators, op)}, {"from", "first"}};
    layers["image"] = {
        {"op", "input"},
        {"shape", {(rows - 1) * stride + height, (columns - 1) * stride + width, inputs}}};
    layers["first"] = {{"op", "convolution"}, {"channels", inputs}, {"relu", true}};
    if (op == Operator::convolution) layer["channels"] = outputs;
    if (op == Operator::add) {
      layers["second"] = {{"op", "convolution"}, {"channels", inputs}, {"from", "image"}};
      layer["from"] = {"first", "second"};
    } else {
      layer.update({{"kernel", {height, width}}, {"stride", stride}});
    }
    if (relu) layer["relu"] = true;
    layers["layer"] = layer;
    return test::Json{{"layers", layers}}.dump();
  }
  [[nodiscard]] Options options(const test::CommandFolder& folder, program::Type type) const {
    folder.write("n.json", text());
    Options options = options_of((folder.path() / "n.json").string(), sparsity);
    options.dtype = type;
    LayerPlan& plan = options.plan.emplace().layers.emplace_back();
    plan = {"layer", mapping, 1};
    plan.mapping.core_rows = 1;
    if (type != program::Type::i8) plan.mapping.group *= 2;
    return options;
  }
};

constexpr program::Type kOnCores[] = {program::Type::i8, program::Type::i16, program::Type::bf16};

MachineConfig machine() {
  MachineConfig machine = array(2);
  machine.tile.sram_kib = 1024;
  machine.tile.matrix_unit.i16.outputs = machine.tile.matrix_unit.bf16.outputs = 4;
  return machine;
}

Case drawn(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto pick = [&random](std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random() % (high - low + 1));
  };
  constexpr Operator kDrawn[] = {
      Operator::convolution, Operator::convolution,  Operator::convolution, Operator::convolution,
      Operator::max_pool,    Operator::average_pool, Operator::add};
  Case made{pick(1, 9), pick(1, 32), 8 * pick(1, 6), 8 * pick(1, 10)};
  made.op = kDrawn[pick(0, 6)];
  made.mapping.rows = made.op == Operator::convolution ? pick(1, made.rows) : made.rows;
  if (made.op != Operator::add) {
    made.height = pick(1, 3);
    made.width = pick(1, 3);
    made.stride = pick(1, 2);
  }
  made.relu = (made.op == Operator::add || made.op == Operator::convolution) && pick(0, 1) == 1;
  if (made.op != Operator::convolution) {
    made.outputs = made.inputs;
    return made;
  }
  made.mapping.group = pick(1, made.outputs / 8);
  if (pick(0, 2) == 0) made.inputs = 128;  // 4, 8 or 12 of 16 blocks remain after pruning
  if (pick(0, 1) == 1) made.sparsity = 0.25 * pick(1, 3);
  if (const std::uint32_t kept = kept_blocks(made.inputs / 8, made.sparsity); kept % 2 == 0) {
    made.mapping.parts = pick(1, 2);
    if (made.mapping.parts == 2) made.mapping.order = Order::rows;
  }
  return made;
}

/// Cycles of the core's calls / ideal cycles of its multiply-adds at 256 a cycle.
double factor(const Case& its) {
  const test::CommandFolder folder;
  const Convnet planned = test::planned<Convnet>(its.options(folder, program::Type::i8), machine());
  const config::Json& layer = planned.facts().at("predicted_layers").at(2);
  REQUIRE(layer.at("layer") == "layer");
  const double kept = kept_blocks(its.inputs / 8, its.sparsity);
  const double macs = kept * 8 * its.rows * its.columns * its.outputs * its.height * its.width;
  return layer.at("compute_cycles").get<double>() / (macs / 256);
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("layers of every shape are right in every type, dense, pruned and in parts") {
    const test::CommandFolder folder;
    for (std::uint32_t seed = 0; seed < 600; ++seed) {
      CAPTURE(seed);
      const Case its = drawn(seed / 3);
      CHECK(test::run_workload<Convnet>(its.options(folder, kOnCores[seed % 3]), machine()) ==
            "passed");
    }
  }
}

TEST_SUITE("timing") {
  TEST_CASE("calls take little beside 256 multiply-adds a cycle, and less behind one like them") {
    const std::pair<Case, double> cases[] = {
        {{.rows = 2, .columns = 14, .inputs = 256, .outputs = 16}, 1.42},
        {{.rows = 2, .columns = 14, .inputs = 256, .outputs = 64}, 1.25},
        {{.rows = 6, .columns = 14, .inputs = 64, .outputs = 16, .height = 3, .width = 3}, 1.22},
        {{.rows = 8, .columns = 14, .inputs = 64, .outputs = 16}, 1.44},
        {{.rows = 4, .columns = 16, .inputs = 64, .outputs = 64}, 1.32},
        {{.rows = 2, .columns = 28, .inputs = 8, .outputs = 16, .height = 7, .width = 7}, 1.88},
        {{.rows = 4, .columns = 7, .inputs = 128, .outputs = 16, .height = 3, .width = 3}, 1.59},
        {{.rows = 2, .columns = 7, .inputs = 128, .outputs = 16, .height = 3, .width = 3}, 1.69},
        {{.rows = 1, .columns = 4, .inputs = 128, .outputs = 8, .height = 3, .width = 3}, 6.45},
        {{.rows = 1, .columns = 4, .inputs = 128, .outputs = 64, .height = 3, .width = 3}, 1.75},
        {{.rows = 2, .columns = 2, .inputs = 512, .outputs = 64}, 1.7},
        {{.rows = 2, .columns = 4, .inputs = 256, .outputs = 32}, 1.72},
        {{.rows = 4, .columns = 4, .inputs = 256, .outputs = 16}, 1.7},
        {{.rows = 3, .columns = 4, .inputs = 256, .outputs = 16}, 1.9},
        {{.rows = 1, .columns = 20, .inputs = 512, .outputs = 64}, 1.28},
        {{.rows = 1, .columns = 16, .inputs = 512, .outputs = 64, .sparsity = 0.5}, 2.31},
        {{.rows = 1, .columns = 12, .inputs = 512, .outputs = 64, .sparsity = 0.5}, 3.06},
        {{.rows = 1, .columns = 8, .inputs = 512, .outputs = 64, .sparsity = 0.5}, 4.08},
        {{.rows = 32, .columns = 14, .inputs = 256, .outputs = 16, .mapping = {.rows = 2}}, 1.14},
        {{.rows = 32, .columns = 14, .inputs = 256, .outputs = 64, .mapping = {.rows = 2}}, 1.08}};
    for (const auto& [stated, most] : cases) {
      Case its = stated;
      if (its.mapping.rows == 1) its.mapping.rows = its.rows;
      its.mapping.group = its.outputs / 8;
      CAPTURE(its.text());
      CHECK(factor(its) < most);
    }
  }
}

}  // namespace tessera::convnet
