#include <doctest/doctest.h>

#include "sim/base/splitmix.h"
#include "tests/cli/command.h"
#include "tests/kernels/convnet/arrays.h"
#include "tests/kernels/right.h"
#include "tests/kernels/run_workload.h"
#include "tests/refusal.h"

using namespace tessera;
using namespace tessera::convnet;

/// Whole networks on arrays: every element exact, races checked.
namespace {

/// "passed" if the result is right and took as long as predicted, but for 8 %.
std::string run(const std::string& network, const MachineConfig& machine, double sparsity) {
  return test::run_as_predicted<Convnet>(options_of(network, sparsity), machine, 0.08);
}

Options with_plans(Options options, std::vector<LayerPlan> plans) {
  if (!plans.empty()) options.plan.emplace().layers = std::move(plans);
  return options;
}

/// "passed" if the result is right with these mappings of layers.
std::string run_plans(const std::string& network, const MachineConfig& machine,
                      std::vector<LayerPlan> plans, double sparsity = 0) {
  return test::run_workload<Convnet>(with_plans(options_of(network, sparsity), std::move(plans)),
                                     machine);
}

/// What planning a network is refused with.
template <class Error = UserError>
std::string error_of(const std::string& network, const MachineConfig& machine) {
  MeasuredCosts costs(machine);
  return test::refusal<Error>([&] { return Convnet(options_of(network), costs); });
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
  TEST_CASE("points of the list `right` give the right results") { test::check_right("convnet"); }

  TEST_CASE("all operators are exact on arrays of any size, dense and pruned, as predicted") {
    const test::CommandFolder folder{{"everything.json", kEverything}};
    const std::string file = folder.path() / "everything.json";
    for (const std::uint32_t side : {2U, 3U, 4U, 5U, 7U, 8U}) {
      CAPTURE(side);
      CHECK(run(file, array(side), 0) == "passed");
      CHECK(run(file, array(side), 0.5) == "passed");
    }
  }

  TEST_CASE("tensors that do not fit the memory tiles lie in DDR, and results stay") {
    const test::CommandFolder folder{{"everything.json", kEverything}};
    for (const std::uint32_t kib : {48U, 24U, 16U, 12U}) {
      CAPTURE(kib);
      CHECK(run_plans(folder.path() / "everything.json", array(2, kib), {}) == "passed");
    }
  }

  TEST_CASE("a result that no memory tile holds goes to DDR while it is made") {
    const test::CommandFolder folder;
    const auto run_last = [&](const std::string& last, std::uint32_t kib) {
      folder.write("last.json", R"({"layers": {
        "image": {"op": "input", "shape": [24, 20, 8]},
        "first": {"op": "convolution", "channels": 32, "kernel": 3, "pad": 1, "relu": true},)" +
                                    last + "}}");
      return test::run_workload<Convnet>(options_of(folder.path() / "last.json"), array(2, kib),
                                         {[](const RunResult&, const Convnet& workload) {
                                           return " with " +
                                                  workload.facts().at("tensors_in_ddr").dump();
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

  TEST_CASE("what does not fit is said with its layer") {
    CHECK(error_of("resnet8", array(2, 2)).find("network resnet8: layer ") != std::string::npos);
    MachineConfig machine = array(2);
    machine.tile.program_kib = 4;
    CHECK(run_plans("resnet8", machine, {}).find("machine.tile.program_kib = 4), ") !=
          std::string::npos);
    machine = array(2);
    machine.tile.sram_kib = 1;
    CHECK(error_of("resnet8", machine)
              .find("layer conv: one row of 32x32x16 with eight channels of its weights does not "
                    "fit a core of 1 KiB") != std::string::npos);
  }

  TEST_CASE("other mappings than the plan that is found are as right") {
    const MachineConfig machine = array(2);
    const auto predicted = [&](const Options& options) {
      MeasuredCosts costs(machine);
      return Convnet(options, costs).prediction().cycles;
    };
    const std::uint64_t found = predicted(options_of("resnet8"));
    for (const Order order : {Order::rows, Order::weights, Order::inputs})
      for (std::uint32_t buffers = 1; buffers <= 2; ++buffers) {
        std::vector<LayerPlan> plans;
        const std::uint32_t parts = order == Order::weights ? 1 : 2;
        for (const char* layer : {"stack1_conv2", "stack2_shortcut", "stack2_conv1"})
          plans.push_back({layer, {3, 1, parts, order, buffers, buffers}});
        plans.push_back({"stack3", {3, 1, 1, Order::rows, buffers, buffers}});
        CHECK(run_plans("resnet8", machine, plans) == "passed");
        CHECK(predicted(with_plans(options_of("resnet8"), plans)) > found);
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
    std::vector<LayerPlan> plans;
    for (const char* layer : {"b", "c"})
      plans.push_back({layer, {2, 1, 1, Order::rows, 2, 2, true}});
    for (const std::uint32_t side : {2U, 3U, 8U})
      CHECK(run_plans(folder.path() / "sums.json", array(side), plans) == "passed");
  }

  TEST_CASE("a layer that a core has no code for is refused by its name") {
    const test::CommandFolder folder;
    const auto refused = [&](const std::string& layers) {
      folder.write("refused.json",
                   R"({"layers": {"image": {"op": "input", "shape": [8, 8, 8]},)" + layers + "}}");
      return error_of(folder.path() / "refused.json", array(2));
    };
    const std::string conv = R"("conv": {"op": "convolution", "channels": 8},)";
    CHECK(refused(R"("pool": {"op": "max_pool", "kernel": 3, "pad": 1})")
              .find("layer pool: found padding around a tensor that may be negative") !=
          std::string::npos);
    CHECK(refused(conv + R"("both": {"op": "concatenate", "from": ["image", "conv"]})")
              .find("layer both: found the network's input") != std::string::npos);
    CHECK(refused(conv + R"("both": {"op": "concatenate", "from": ["conv", "conv"]})")
              .find("layer both: found conv more than once, allowed once") != std::string::npos);
  }

  TEST_CASE("partial sums of a last tile of rows have room, though more positions cover it") {
    const test::CommandFolder folder{{"parts.json", R"({"layers": {
      "image": {"op": "input", "shape": [29, 27, 128]},
      "conv": {"op": "convolution", "channels": 64, "kernel": 7}}})"}};
    CHECK(run_plans(folder.path() / "parts.json", array(4),
                    {{"conv", {8, 2, 8, Order::inputs, 2, 1}}}) == "passed");
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
    const auto message = error_of<KeyError>;
    CHECK(message("resnet8", config::load_machine("bow", config::machine_presets()))
              .find("allowed streams") != std::string::npos);
    MachineConfig machine = array(2);
    machine.tile.matrix_unit.i8.outputs = 0;
    CHECK(message("resnet8", machine).find("int8 unit") != std::string::npos);
    machine = array(2);
    machine.fabric.streams.pop_back();
    CHECK(message("resnet8", machine).find("found no streams store from memory to ddr") !=
          std::string::npos);
  }

  TEST_CASE("resnet50, half of it pruned, gives the same tensors on every host") {
    HostThreads threads(2);
    const Model model = model_of(options_of("resnet50", 0.5), 2);
    const auto tensors = forward(model.network, model.weights, model.image, threads);
    std::uint64_t sum = 0;
    for (const Tensor& tensor : tensors)
      for (const std::int8_t value : tensor.values)
        sum = splitmix64(sum, static_cast<std::uint8_t>(value));
    CHECK(tensors.back().shape == Shape{1, 1, 2048});
    CHECK(sum == 14849676189182849686U);
    for (std::size_t i = 1; i < model.weights.size(); ++i) {
      const LayerWeights& weights = model.weights[i];
      const std::uint32_t part = i == 1 ? 1 : 2;
      for (const auto& row : weights.kept) CHECK(row.size() * part == weights.input_blocks());
    }
  }
}
