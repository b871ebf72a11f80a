#include "kernels/convnet/convnet.h"

#include <doctest/doctest.h>

#include "sim/config/config.h"
#include "tests/cli/command.h"
#include "tests/kernels/run_workload.h"
#include "tests/refusal.h"

using namespace tessera;
using namespace tessera::convnet;

/// Whole networks on arrays: every element exact, races checked.
namespace {

MachineConfig array(std::uint32_t side) {
  return config::load_machine(fmt::format("aie2_{}x{}", side, side), config::machine_presets());
}

/// "passed" if the result is right and took as long as predicted, but for 8 %.
std::string run(const std::string& network, const MachineConfig& machine, double sparsity) {
  Options options;
  options.network = network;
  options.sparsity = sparsity;
  return test::run_as_predicted<Convnet>(options, machine, 0.08);
}

constexpr const char* kEverything = R"({"layers": {
  "image": {"op": "input", "shape": [23, 19, 3]},
  "conv1": {"op": "convolution", "channels": 32, "kernel": 7, "pad": 3, "stride": 2, "relu": true},
  "pool1": {"op": "max_pool", "kernel": 3, "stride": 2, "pad": 1},
  "down": {"op": "convolution", "channels": 64, "kernel": 1},
  "a1": {"op": "convolution", "from": "pool1", "channels": 16, "kernel": 1, "relu": true},
  "a2": {"op": "convolution", "channels": 16, "kernel": 3, "pad": 1, "relu": true},
  "a3": {"op": "convolution", "channels": 64, "kernel": 1},
  "sum": {"op": "add", "from": ["a3", "down"], "relu": true},
  "b1": {"op": "convolution", "from": "sum", "channels": 40, "kernel": [1, 7], "pad": [0, 3], "relu": true},
  "b2": {"op": "convolution", "from": "sum", "channels": 24, "kernel": [5, 1], "pad": [2, 0], "relu": true},
  "b3": {"op": "average_pool", "from": "sum", "kernel": 3, "pad": 1, "stride": 1},
  "cat": {"op": "concatenate", "from": ["b1", "b2", "b3"]},
  "last": {"op": "convolution", "channels": 64, "kernel": 3, "stride": 2, "relu": true},
  "mean": {"op": "average_pool", "kernel": [2, 1]}}})";

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("all operators are exact on arrays of any size, dense and pruned, as predicted") {
    const test::CommandFolder folder{{"everything.json", kEverything}};
    const std::string file = folder.path() / "everything.json";
    for (const std::uint32_t side : {2U, 3U, 4U, 5U, 7U, 8U}) {
      CAPTURE(side);
      CHECK(run(file, array(side), 0) == "passed");
      CHECK(run(file, array(side), 0.5) == "passed");
    }
  }

  TEST_CASE("an array may have more rows than columns, or fewer") {
    for (const std::uint32_t tiles : {2U, 6U, 8U, 12U}) {
      CAPTURE(tiles);
      MachineConfig machine = array(2);
      machine.tiles = tiles;
      CHECK(run("resnet8", machine, 0.5) == "passed");
    }
  }

  TEST_CASE("a core of half the memory gets other plans, and they fit") {
    MachineConfig machine = array(2);
    const std::string whole = run("resnet8", machine, 0);
    machine.tile.sram_kib = 8;
    CHECK(whole == "passed");
    CHECK(run("resnet8", machine, 0) == "passed");
  }

  TEST_CASE("tensors that do not fit the memory tiles lie in DDR, and results stay") {
    const test::CommandFolder folder{{"everything.json", kEverything}};
    for (const std::uint32_t kib : {48U, 24U, 16U, 12U}) {
      CAPTURE(kib);
      MachineConfig machine = array(2);
      machine.nodes[0].tile.sram_kib = kib;
      Options options;
      options.network = folder.path() / "everything.json";
      CHECK(test::run_workload<Convnet>(options, machine) == "passed");
    }
  }

  TEST_CASE("a result that no memory tile holds goes to DDR while it is made") {
    const test::CommandFolder folder;
    const auto run_last = [&](const std::string& last, std::uint32_t kib) {
      folder.write("last.json", R"({"layers": {
        "image": {"op": "input", "shape": [24, 20, 8]},
        "first": {"op": "convolution", "channels": 32, "kernel": 3, "pad": 1, "relu": true},)" +
                                    last + "}}");
      Options options;
      options.network = folder.path() / "last.json";
      MachineConfig machine = array(2);
      machine.nodes[0].tile.sram_kib = kib;
      return test::run_workload<Convnet>(
          options, machine, {[](const RunResult&, const Convnet& workload) {
            return " with " + workload.facts().at("tensors_in_ddr").dump();
          }});
    };
    CHECK(run_last(R"("wide": {"op": "convolution", "channels": 128, "kernel": 1})", 24)
              .find("\"wide\"") != std::string::npos);
    CHECK(run_last(R"("second": {"op": "convolution", "channels": 32, "kernel": 1},
                      "sum": {"op": "add", "from": ["first", "second"]})",
                   12)
              .find("\"sum\"") != std::string::npos);
    CHECK(run_last(R"("a": {"op": "convolution", "channels": 32, "kernel": 1},
                      "b": {"op": "max_pool", "from": "first", "kernel": 1},
                      "both": {"op": "concatenate", "from": ["a", "b"]})",
                   16)
              .find("\"both\"") != std::string::npos);
  }

  TEST_CASE("memory tiles of a few KiB take tiles of rows and pieces of weights that they hold") {
    for (const std::uint32_t kib : {8U, 5U}) {
      CAPTURE(kib);
      MachineConfig machine = array(2);
      machine.nodes[0].tile.sram_kib = kib;
      Options options;
      options.network = "resnet8";
      CHECK(test::run_workload<Convnet>(options, machine) == "passed");
    }
  }

  TEST_CASE("what does not fit is said with its layer") {
    const auto error_of = [](const MachineConfig& machine) -> std::string {
      MeasuredCosts costs(machine);
      Options options;
      options.network = "resnet8";
      return test::refusal([&] { return Convnet(options, costs); });
    };
    MachineConfig machine = array(2);
    machine.nodes[0].tile.sram_kib = 2;
    CHECK(error_of(machine).find("network resnet8: layer ") != std::string::npos);
    machine = array(2);
    machine.tile.program_kib = 4;
    CHECK(test::run_workload<Convnet>(
              [] {
                Options options;
                options.network = "resnet8";
                return options;
              }(),
              machine)
              .find("machine.tile.program_kib = 4), ") != std::string::npos);
    machine = array(2);
    machine.tile.sram_kib = 1;
    CHECK(error_of(machine).find("layer conv: one row of 32x32x16 with eight channels of its "
                                 "weights does not fit a core of 1 KiB") != std::string::npos);
  }

  TEST_CASE("without overlap an array takes longer and is right") {
    MachineConfig machine = array(2);
    machine.tile.overlap = false;
    for (NodeConfig& node : machine.nodes) node.tile.overlap = false;
    Options options;
    options.network = "resnet8";
    CHECK(test::run_workload<Convnet>(options, machine) == "passed");
  }

  TEST_CASE("the plan that is found can be pinned, and other mappings are as right") {
    const MachineConfig machine = array(2);
    Options options;
    options.network = "resnet8";
    std::uint64_t found = 0;
    {
      MeasuredCosts costs(machine);
      found = Convnet(options, costs).prediction().cycles;
    }
    for (const Order order : {Order::rows, Order::weights, Order::inputs}) {
      for (std::uint32_t buffers = 1; buffers <= 2; ++buffers) {
        PinnedPlan plan;
        const std::uint32_t parts = order == Order::weights ? 1 : 2;
        for (const char* layer : {"stack1_conv2", "stack2_shortcut", "stack2_conv1"})
          plan.layers.push_back({layer, {3, 1, parts, order, buffers, buffers}});
        plan.layers.push_back({"stack3", {3, 1, 1, Order::rows, buffers, buffers}});
        options.plan = plan;
        CHECK(test::run_workload<Convnet>(options, machine) == "passed");
        MeasuredCosts costs(machine);
        CHECK(Convnet(options, costs).prediction().cycles > found);
      }
    }
  }

  TEST_CASE("tiles of weights may come in pieces, with one buffer or two, in every order") {
    const MachineConfig machine = array(2);
    const auto run_pieces = [&](const LayerPlan& plan, double sparsity) {
      Options options;
      options.network = "resnet8";
      options.sparsity = sparsity;
      options.plan.emplace().layers.push_back(plan);
      return test::run_workload<Convnet>(options, machine);
    };
    for (const std::uint32_t pieces : {2U, 3U, 100U})
      for (const std::uint32_t buffers : {1U, 2U})
        for (const auto& [order, parts] :
             {std::pair(Order::rows, 2U), std::pair(Order::weights, 1U),
              std::pair(Order::inputs, 2U)}) {
          CAPTURE(pieces);
          CAPTURE(buffers);
          CHECK(run_pieces({"stack2_conv2", {4, 1, parts, order, 1, buffers, false, pieces}}, 0) ==
                "passed");
        }
    CHECK(run_pieces({"stack2_conv2", {4, 1, 1, Order::rows, 2, 2, false, 3}}, 0.5) == "passed");
  }

  TEST_CASE("an addition is made with its convolution in every order, from DDR, without overlap") {
    MachineConfig machine = array(2);
    Options options;
    options.network = "resnet8";
    for (const Order order : {Order::rows, Order::weights, Order::inputs}) {
      CAPTURE(static_cast<int>(order));
      const std::uint32_t parts = order == Order::weights ? 1 : 2;
      PinnedPlan plan;
      for (const char* layer : {"stack1_conv2", "stack2_conv2", "stack3_conv2"})
        plan.layers.push_back({layer, {3, 1, parts, order, 2, 1, true}});
      options.plan = plan;
      CHECK(test::run_workload<Convnet>(options, machine) == "passed");
      MachineConfig spilled = machine;
      spilled.nodes[0].tile.sram_kib = 16;
      CHECK(test::run_workload<Convnet>(options, spilled) == "passed");
      MachineConfig blocking = machine;
      blocking.tile.overlap = false;
      for (NodeConfig& node : blocking.nodes) node.tile.overlap = false;
      CHECK(test::run_workload<Convnet>(options, blocking) == "passed");
    }
  }

  TEST_CASE("a sum may take its convolution's input, either way round, and be joined to others") {
    const test::CommandFolder folder{{"sums.json", R"({"layers": {
      "image": {"op": "input", "shape": [13, 11, 16]},
      "a": {"op": "convolution", "channels": 24, "kernel": 3, "pad": 1, "relu": true},
      "b": {"op": "convolution", "channels": 24, "kernel": 3, "pad": 1},
      "ab": {"op": "add", "from": ["a", "b"], "relu": true},
      "c": {"op": "convolution", "channels": 24, "kernel": 1, "stride": 1},
      "bc": {"op": "add", "from": ["c", "ab"]},
      "d": {"op": "convolution", "from": "ab", "channels": 8, "kernel": 1},
      "all": {"op": "concatenate", "from": ["d", "bc"]},
      "third": {"op": "convolution", "channels": 16, "kernel": 1, "stride": 3}}})"}};
    Options options;
    options.network = folder.path() / "sums.json";
    PinnedPlan plan;
    for (const char* layer : {"b", "c"})
      plan.layers.push_back({layer, {2, 1, 1, Order::rows, 2, 2, true}});
    options.plan = plan;
    for (const std::uint32_t side : {2U, 3U, 8U})
      CHECK(test::run_workload<Convnet>(options, array(side)) == "passed");
  }

  TEST_CASE("additions are right in groups of blocks of which the last is smaller") {
    Options options;
    options.network = "resnet8";
    PinnedPlan plan;
    plan.layers.push_back({"stack3", {2, 1}});
    options.plan = plan;
    CHECK(test::run_workload<Convnet>(options, array(3)) == "passed");
  }

  TEST_CASE("a layer that a core has no code for is refused by its name") {
    const test::CommandFolder folder;
    MeasuredCosts costs(array(2));
    Options options;
    options.network = folder.path() / "negative.json";
    folder.write("negative.json", R"({"layers": {
      "image": {"op": "input", "shape": [8, 8, 8]},
      "pool": {"op": "max_pool", "kernel": 3, "pad": 1}}})");
    CHECK_THROWS_WITH_AS(Convnet(options, costs),
                         doctest::Contains("layer pool: found padding around a tensor that may be "
                                           "negative"),
                         UserError);
    folder.write("negative.json", R"({"layers": {
      "image": {"op": "input", "shape": [8, 8, 8]},
      "conv": {"op": "convolution", "channels": 8},
      "both": {"op": "concatenate", "from": ["image", "conv"]}}})");
    CHECK_THROWS_WITH_AS(Convnet(options, costs),
                         doctest::Contains("layer both: found the network's input"), UserError);
    folder.write("negative.json", R"({"layers": {
      "image": {"op": "input", "shape": [8, 8, 8]},
      "conv": {"op": "convolution", "channels": 8},
      "both": {"op": "concatenate", "from": ["conv", "conv"]}}})");
    CHECK_THROWS_WITH_AS(Convnet(options, costs),
                         doctest::Contains("layer both: found conv more than once, allowed once"),
                         UserError);
  }

  TEST_CASE("partial sums of a last tile of rows have room, though more positions cover it") {
    const test::CommandFolder folder{{"parts.json", R"({"layers": {
      "image": {"op": "input", "shape": [29, 27, 128]},
      "conv": {"op": "convolution", "channels": 64, "kernel": 7}}})"}};
    Options options;
    options.network = folder.path() / "parts.json";
    options.plan.emplace().layers.push_back({"conv", {8, 2, 8, Order::inputs, 2, 1}});
    CHECK(test::run_workload<Convnet>(options, array(4)) == "passed");
  }

  TEST_CASE("a network of pools alone says its rate") {
    const test::CommandFolder folder{{"pools.json", R"({"layers": {
      "image": {"op": "input", "shape": [16, 16, 8]},
      "pool": {"op": "max_pool", "kernel": 2, "stride": 2}}})"}};
    const test::Answer answer = folder.done(
        "run " TESSERA_SOURCE "/configs/runs/convnet.json --set workload.network=pools.json");
    CHECK(answer.out.find("0.0 % of the i8 peak") != std::string::npos);
  }

  TEST_CASE("machines without streams or an int8 unit are refused") {
    Options options;
    options.network = "resnet8";
    const auto message = [&](const MachineConfig& machine) -> std::string {
      MeasuredCosts costs(machine);
      return test::refusal<KeyError>([&] { return Convnet(options, costs); });
    };
    CHECK(message(config::load_machine("bow", config::machine_presets())).find("allowed streams") !=
          std::string::npos);
    MachineConfig machine = array(2);
    machine.tile.matrix_unit.i8.outputs = 0;
    CHECK(message(machine).find("int8 unit") != std::string::npos);
    machine = array(2);
    machine.fabric.streams.pop_back();
    CHECK(message(machine).find("found no streams store from memory to ddr") != std::string::npos);
  }
}
