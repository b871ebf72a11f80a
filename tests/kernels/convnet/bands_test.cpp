#include <doctest/doctest.h>

#include "kernels/convnet/plan.h"
#include "tests/cli/command.h"
#include "tests/kernels/convnet/arrays.h"
#include "tests/kernels/run_workload.h"

using namespace tessera;
using namespace tessera::convnet;

/// Tests of layers that are computed in bands of rows.
namespace {

constexpr const char* kBranches = R"({"layers": {
  "image": {"op": "input", "shape": [31, 21, 3]},
  "conv1": {"op": "convolution", "channels": 24, "kernel": 5, "pad": 2, "stride": 2, "relu": true},
  "pool1": {"op": "max_pool", "kernel": 3, "stride": 1, "pad": 1},
  "a1": {"op": "convolution", "from": "pool1", "channels": 16, "kernel": 3, "pad": 1, "relu": true},
  "a2": {"op": "convolution", "channels": 24, "kernel": [7, 1], "pad": [3, 0]},
  "sum": {"op": "add", "from": ["a2", "pool1"], "relu": true},
  "b1": {"op": "convolution", "from": "sum", "channels": 40, "kernel": 1, "relu": true},
  "b2": {"op": "convolution", "from": "sum", "channels": 24, "kernel": 3, "pad": 1, "relu": true},
  "cat": {"op": "concatenate", "from": ["b1", "b2"]},
  "down": {"op": "convolution", "channels": 32, "kernel": 3, "stride": 2, "relu": true},
  "mean": {"op": "average_pool", "kernel": [2, 2], "stride": 2},
  "last": {"op": "convolution", "channels": 16, "kernel": 1, "stride": 2}}})";

/// Divides the rates of the DDR streams for images and results by `times`; weights keep theirs.
MachineConfig with_slow_ddr(MachineConfig machine, double times) {
  for (StreamConfig& stream : machine.fabric.streams)
    if (stream.name == arrays::kLoad || stream.name == arrays::kStore)
      stream.bytes_per_cycle /= times;
  return machine;
}

std::string run(const std::string& network, const BandPlan& bands, const MachineConfig& machine,
                double sparsity) {
  Options options = options_of(network, sparsity);
  options.plan.emplace().bands = {bands};
  return test::run_as_predicted<Convnet>(options, machine, 0.1);
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("bands of all parts of a network give its results, as predicted") {
    const test::CommandFolder folder{{"branches.json", kBranches}};
    const std::string file = folder.path() / "branches.json";
    const Model model = model_of(options_of(file));
    const std::vector<Layer>& layers = model.network.layers;
    std::uint32_t parts = 0;
    for (std::uint32_t first = 1; first < layers.size(); ++first)
      for (std::uint32_t last = first + 1; last < layers.size(); ++last) {
        const std::uint32_t count = 2 + (first + last) % 3;
        const Bands bands{first, last, count};
        if (!with_bands(model, {&bands, 1})) continue;
        CAPTURE(layers[first].name);
        CAPTURE(layers[last].name);
        ++parts;
        const BandPlan plan{layers[first].name, layers[last].name, count};
        CHECK(run(file, plan, array(3), 0) == "passed");
        CHECK(run(file, plan, array(2, 24), 0.5) == "passed");
      }
    CHECK(parts > 20);
  }

  TEST_CASE("with slow DDR the search finds bands, which are faster as predicted") {
    const MachineConfig machine = with_slow_ddr(array(2, 16), 16);
    const Model model = model_of(options_of("resnet8"));
    MeasuredCosts costs(machine);
    const PinnedPlan nothing;
    const auto whole = with_bands(model, {});
    REQUIRE(whole.has_value());
    const convnet::Planner without(
        *whole, nothing, machine,
        std::make_shared<LayerCosts>(costs, type_of(whole->network.layers[0])));
    const BandedPlan with = plan_bands(model, nothing, costs);
    CHECK(!with.bands.empty());
    CHECK(with.planner->cycles() < without.cycles());
    CHECK(test::run_as_predicted<Convnet>(options_of("resnet8"), machine, 0.05) == "passed");
  }
}

TEST_SUITE("unit") {
  TEST_CASE("nothing is searched where DDR costs no time") {
    const Model model = model_of(options_of("resnet8"));
    MeasuredCosts costs(array(2));
    CHECK(plan_bands(model, PinnedPlan{}, costs).bands.empty());
  }
}
