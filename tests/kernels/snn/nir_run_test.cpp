#include <cmath>

#include <doctest/doctest.h>

#include "kernels/snn/snn.h"
#include "tests/cli/command.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/small_machine.h"
#include "tests/sim/data/nir_writer.h"

using namespace tessera;
using test::CommandFolder;
using test::nir_numbers;
using test::NirItem;

namespace {

data::NirParameter seeded(const std::vector<std::uint64_t>& shape, double scale, double first) {
  data::NirParameter result{shape, {}, {}};
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape) count *= extent;
  for (std::uint64_t i = 0; i < count; ++i)
    result.values.push_back(scale * std::sin(first + 1.7 * static_cast<double>(i)));
  return result;
}
data::NirParameter all(std::uint64_t count, double value) {
  return nir_numbers({count}, std::vector<double>(count, value));
}
NirItem node(std::string name, std::string type,
             std::map<std::string, data::NirParameter> parameters) {
  return {std::move(name), {std::move(type), std::move(parameters)}};
}

enum class First : std::uint8_t { convolution, product };

/// An image of 2 x 6 x 5 through a convolution and pooling, or a product, to 12 neurons, a
/// recurrent layer of 9 with currents, and 4 outputs of type `last`, which may take their own
/// spikes.
NirItem nir_graph(const std::string& last, First first = First::product, bool recurrent = false) {
  const data::NirParameter two = nir_numbers({2}, {2, 2}), one = nir_numbers({2}, {1, 1});
  NirItem graph{"", {}};
  graph.nodes = {
      node("in", "Input", {{"shape", nir_numbers({3}, {2, 6, 5})}}),
      node("conv", "Conv2d",
           {{"weight", seeded({3, 2, 2, 2}, 1, 0.1)},
            {"bias", all(3, 0.05)},
            {"stride", one},
            {"padding", nir_numbers({2}, {0, 0})},
            {"dilation", one},
            {"groups", nir_numbers({}, {1})}}),
      node("pool", "SumPool2d",
           {{"kernel_size", two}, {"stride", two}, {"padding", nir_numbers({2}, {0, 0})}}),
      node("flat", "Flatten", {{"start_dim", nir_numbers({}, {0})}}),
      node("a", "LIF",
           {{"tau", all(12, 4e-4)},
            {"r", all(12, 2)},
            {"v_leak", all(12, 0.1)},
            {"v_threshold", all(12, 0.6)},
            {"v_reset", all(12, -0.1)}}),
      node("w", "Linear", {{"weight", seeded({9, 12}, 3, 0.7)}}),
      node("b", "CubaLIF",
           {{"tau_mem", all(9, 5e-4)},
            {"tau_syn", all(9, 3e-4)},
            {"r", all(9, 3)},
            {"v_leak", all(9, 0)},
            {"w_in", all(9, 1.5)},
            {"v_threshold", all(9, 0.5)}}),
      node("rec", "Linear", {{"weight", seeded({9, 9}, 0.5, 0.2)}}),
      node("v", "Affine", {{"weight", seeded({4, 9}, 5, 0.3)}, {"bias", all(4, 0.2)}}),
      node("c", last,
           last == "LI" ? std::map<std::string, data::NirParameter>{{"tau", all(4, 1e-3)},
                                                                    {"r", all(4, 1)},
                                                                    {"v_leak", all(4, 0)}}
                        : std::map<std::string, data::NirParameter>{{"r", all(4, 4000)},
                                                                    {"v_threshold", all(4, 1)}}),
      node("out", "Output", {{"shape", nir_numbers({1}, {4})}})};
  graph.edges = {{"in", "conv"}, {"conv", "pool"}, {"pool", "flat"}, {"flat", "a"},
                 {"a", "w"},     {"w", "b"},       {"b", "rec"},     {"rec", "b"},
                 {"b", "v"},     {"v", "c"},       {"c", "out"}};
  if (first == First::product) {
    graph.nodes[1] = node("conv", "Linear", {{"weight", seeded({12, 60}, 1, 0.1)}});
    graph.nodes.erase(graph.nodes.begin() + 2);
    graph.edges[1] = {"conv", "flat"};
    graph.edges.erase(graph.edges.begin() + 2);
  }
  if (recurrent) {
    graph.nodes.push_back(node("own", "Linear", {{"weight", seeded({4, 4}, 2, 0.4)}}));
    graph.edges.insert(graph.edges.end(), {{"c", "own"}, {"own", "c"}});
  }
  return graph;
}

snn::Options options(const CommandFolder& folder) {
  snn::Options options;
  options.network = (folder.path() / "a.nir").string();
  options.data = {
      .kind = snn::DataKind::custom, .inputs = 60, .classes = 4, .rate = 0.2, .samples = 6};
  options.max_activity = 1;
  options.time_steps = 12;
  options.batch = 6;
  options.learning.rate = 0.01;
  return options;
}

std::string message(const snn::Options& options) {
  return test::run_workload<snn::Snn>(options, test::small_machine(16));
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("a network of a NIR file runs and trains as its plain reference does") {
    const CommandFolder folder;
    for (const char* last : {"IF", "LI"})
      for (const bool train : {false, true}) {
        CAPTURE(train);
        test::write_nir(folder.path() / "a.nir",
                        nir_graph(last, train ? First::product : First::convolution));
        snn::Options with = options(folder);
        with.train = train;
        with.loss = std::string(last) == "LI" ? snn::Loss::membrane : snn::Loss::spike_count;
        CHECK(message(with) == "passed");
      }
  }

  TEST_CASE("outputs that take their own spikes are trained as their plain reference is") {
    const CommandFolder folder;
    test::write_nir(folder.path() / "a.nir", nir_graph("IF", First::product, true));
    snn::Options with = options(folder);
    with.steps = 3;
    for (const snn::Algorithm algorithm : {snn::Algorithm::published, snn::Algorithm::bits}) {
      with.plan.algorithm = algorithm;
      CHECK(message(with) == "passed");
    }
  }

  TEST_CASE("a network of a NIR file with a convolution is not trained") {
    const CommandFolder folder;
    test::write_nir(folder.path() / "a.nir", nir_graph("IF", First::convolution));
    const std::string found = message(options(folder));
    CHECK(found.starts_with("exit 2: workload.train: found true, allowed false with "));
    CHECK(found.find("through 'conv' (Conv2d), 'pool' (SumPool2d)") != std::string::npos);
  }

  TEST_CASE(
      "a network of a NIR file keeps all spikes unless told otherwise, and says what it drops") {
    const CommandFolder folder;
    test::write_nir(folder.path() / "a.nir", nir_graph("IF"));
    folder.write("a.json", R"({"machine": {"extends": "bow", "tiles": 16},
      "workload": {"kernel": "snn", "network": "a.nir", "time_steps": 12, "batch": 6,
                   "data": {"kind": "custom", "inputs": 60, "classes": 4, "samples": 6}}})");
    const auto all = folder.done("run a.json --out r --set workload.train=false");
    CHECK(all.out.find("dropped") == std::string::npos);
    auto report = folder.json("r/report.json");
    CHECK(report.at("config").at("workload").at("max_activity") == 1);
    CHECK(report.at("results").at("spikes_dropped") == 0);
    const auto some = folder.done(
        "run a.json --out r --set workload.train=false --set workload.max_activity=0.05");
    report = folder.json("r/report.json");
    CHECK(report.at("config").at("workload").at("max_activity") == 0.05);
    CHECK(report.at("results").at("spikes_dropped") > 0);
    CHECK(some.out.find("\n  spikes dropped: ") != std::string::npos);
  }

  TEST_CASE("a network of a NIR file must suit data and loss") {
    const CommandFolder folder;
    test::write_nir(folder.path() / "a.nir", nir_graph("IF"));
    snn::Options with = options(folder);
    with.loss = snn::Loss::membrane;
    CHECK(message(with).starts_with(
        "exit 2: workload.loss: found membrane, allowed spike_count, as the last neurons of "));
    with = options(folder);
    with.data.inputs = 61;
    CHECK(message(with).starts_with("exit 2: workload.network: found 60 inputs of "));
    with = options(folder);
    with.data.classes = 5;
    CHECK(message(with).find("found 4 outputs of the last one, allowed 5") != std::string::npos);
    with = options(folder);
    with.step_seconds = 1e-3;
    CHECK(message(with).find("node 'a' (LIF): tau: found 0.0004 s") != std::string::npos);
    with = options(folder);
    with.activations = snn::Activations::dense;
    CHECK(message(with).starts_with("exit 2: workload.network: found " + with.network +
                                    " with activations dense, allowed none"));
  }
}
