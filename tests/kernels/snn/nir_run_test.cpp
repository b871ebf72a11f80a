#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "kernels/snn/snn.h"
#include "tests/cli/command.h"
#include "tests/cli/saved.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/small_machine.h"
#include "tests/sim/data/nir_writer.h"

using namespace tessera;
using test::CommandFolder;
using test::NirItem;

/// Runs networks from NIR files as users do, and compares them with a plain implementation.
namespace {

constexpr int kNirInputs = 5, kNirSteps = 50;

/// Values for weights and parameters: first + scale sin(first + 1.7 i).
std::vector<double> wave(std::uint64_t count, double scale, double first) {
  std::vector<double> values;
  for (std::uint64_t i = 0; i < count; ++i)
    values.push_back(first + scale * std::sin(first + 1.7 * static_cast<double>(i)));
  return values;
}

/// A layer with its NIR node's parameters, and the weights of its inputs.
struct Plain {
  std::string type;
  std::uint64_t neurons, inputs;
  std::vector<double> weights = {}, bias = {}, recurrent = {};  ///< [neuron][input]
  std::map<std::string, std::vector<double>> parameters = {};
  std::vector<double> v = {}, i = {};
  std::vector<bool> z = {};
};

std::vector<Plain> plain_layers() {
  std::vector<Plain> all{{"LIF", 6, kNirInputs}, {"CubaLIF", 5, 6}, {"IF", 4, 5}};
  all[0].parameters = {{"tau", wave(6, 1e-3, 4e-3)},
                       {"r", wave(6, 0.5, 3)},
                       {"v_leak", wave(6, 0.1, 0.2)},
                       {"v_threshold", wave(6, 0.1, 1)},
                       {"v_reset", wave(6, 0.1, -0.2)}};
  all[1].parameters = {{"tau_mem", wave(5, 1e-3, 5e-3)},
                       {"tau_syn", wave(5, 1e-3, 3e-3)},
                       {"r", wave(5, 1, 6)},
                       {"v_leak", wave(5, 0, 0.1)},
                       {"v_reset", wave(5, 0, 0.1)},
                       {"v_threshold", wave(5, 0.1, 0.8)},
                       {"w_in", wave(5, 0.3, 1.5)}};
  all[2].parameters = {
      {"r", wave(4, 20, 300)}, {"v_threshold", wave(4, 0.1, 1)}, {"v_reset", wave(4, 0.1, 0.05)}};
  double first = 0.3;
  for (Plain& layer : all) {
    layer.weights = wave(layer.neurons * layer.inputs, 1.5, first);
    layer.bias = wave(layer.neurons, 0.1, 0.05);
    if (layer.type != "IF") layer.recurrent = wave(layer.neurons * layer.neurons, 0.6, -first);
    first += 0.1;
  }
  return all;
}

enum class First : std::uint8_t { product, convolution };

/// The layers as a NIR graph: in, affine_0, neurons_0, ... With a convolution the first layer's
/// inputs are sums over two positions in each of three channels.
NirItem graph_of(const std::vector<Plain>& all, First first = First::product) {
  NirItem graph{"", {}};
  const auto numbers = [](std::vector<std::uint64_t> shape, const std::vector<double>& values) {
    return test::nir_numbers(std::move(shape), values);
  };
  std::string before;
  const auto add = [&](const std::string& name, data::NirNode node) {
    graph.nodes.push_back({name, std::move(node)});
    if (!before.empty()) graph.edges.emplace_back(before, name);
    before = name;
  };
  add("in", {"Input", {{"shape", numbers({3}, {1, 1, kNirInputs})}}});
  if (first == First::convolution) {
    const data::NirParameter one = numbers({2}, {1, 1}), pair = numbers({2}, {1, 2}),
                             none = numbers({2}, {0, 0});
    add("conv", {"Conv2d",
                 {{"weight", numbers({3, 1, 1, 2}, wave(6, 1.5, 0.3))},
                  {"bias", numbers({3}, wave(3, 0, 0.05))},
                  {"stride", one},
                  {"padding", none},
                  {"dilation", one},
                  {"groups", numbers({}, {1})}}});
    add("pool", {"SumPool2d", {{"kernel_size", pair}, {"stride", pair}, {"padding", none}}});
  }
  add("flat", {"Flatten", {{"start_dim", numbers({}, {0})}}});
  for (std::size_t l = 0; l < all.size(); ++l) {
    const Plain& layer = all[l];
    const std::string name = fmt::format("neurons_{}", l), own = fmt::format("own_{}", l);
    if (l > 0 || first == First::product)
      add(fmt::format("affine_{}", l),
          {"Affine",
           {{"weight", numbers({layer.neurons, layer.inputs}, layer.weights)},
            {"bias", numbers({layer.neurons}, layer.bias)}}});
    data::NirNode node{layer.type, {}};
    for (const auto& [key, values] : layer.parameters)
      node.parameters[key] = numbers({layer.neurons}, values);
    add(name, node);
    if (!layer.recurrent.empty()) {
      add(own, {"Linear", {{"weight", numbers({layer.neurons, layer.neurons}, layer.recurrent)}}});
      graph.edges.emplace_back(own, name);
      before = name;
    }
  }
  add("out", {"Output", {{"shape", numbers({1}, {4})}}});
  return graph;
}

/// A step of NIR's equations by forward Euler in double; CubaLIF uses the current of the same step.
/// Returns the smallest distance of a voltage from its threshold.
double euler_step(Plain& layer, const std::vector<bool>& input, double dt) {
  const std::vector<bool> own = layer.z;
  double closest = 1;
  for (std::size_t n = 0; n < layer.neurons; ++n) {
    const auto p = [&](const char* name) { return layer.parameters.at(name)[n]; };
    double sum = layer.bias[n];
    for (std::size_t i = 0; i < layer.inputs; ++i)
      if (input[i]) sum += layer.weights[n * layer.inputs + i];
    for (std::size_t i = 0; i < layer.neurons && !layer.recurrent.empty(); ++i)
      if (own[i]) sum += layer.recurrent[n * layer.neurons + i];
    double& v = layer.v[n];
    if (layer.type == "LIF") {
      v += dt / p("tau") * (p("v_leak") - v + p("r") * sum);
    } else if (layer.type == "IF") {
      v += dt * p("r") * sum;
    } else {
      layer.i[n] += dt / p("tau_syn") * (p("w_in") * sum - layer.i[n]);
      v += dt / p("tau_mem") * (p("v_leak") - v + p("r") * layer.i[n]);
    }
    closest = std::min(closest, std::abs(v - p("v_threshold")));
    layer.z[n] = v > p("v_threshold");
    if (layer.z[n]) v = p("v_reset");
  }
  return closest;
}

/// [layer][step][neuron] of one sample in raster.csv; the first layer is the inputs.
using Raster = std::vector<std::vector<std::vector<bool>>>;
Raster raster_of(const CommandFolder& folder, int of, const std::vector<Plain>& all) {
  Raster raster{std::vector(kNirSteps, std::vector<bool>(kNirInputs))};
  for (const Plain& layer : all) raster.emplace_back(kNirSteps, std::vector<bool>(layer.neurons));
  std::istringstream lines(folder.read("result/raster.csv"));
  std::string line;
  while (std::getline(lines, line)) {
    std::size_t sample = 0, layer = 0, time = 0, neuron = 0;
    if (std::sscanf(line.c_str(), "%zu,%zu,%zu,%zu", &sample, &layer, &time, &neuron) == 4 &&
        sample == static_cast<std::size_t>(of))
      raster.at(layer).at(time).at(neuron) = true;
  }
  return raster;
}

constexpr const char* kNirConfig = R"({"machine": {"extends": "bow", "tiles": 16},
  "workload": {"kernel": "snn", "network": "a.nir", "step_seconds": 1e-3, "time_steps": 50,
               "batch": 3, "max_activity": 1,
               "data": {"kind": "custom", "inputs": 5, "classes": 4, "samples": 3, "rate": 0.4}}})";

/// A folder with a network file and a config that uses it.
struct NirFolder : CommandFolder {
  explicit NirFolder(const std::vector<Plain>& layers = plain_layers(),
                     First first = First::product)
      : CommandFolder{{"a.json", kNirConfig}} {
    test::write_nir(path() / "a.nir", graph_of(layers, first));
  }
  void run(const std::string& more) const {
    done("run a.json --out result --set report.tensors=all " + more);
  }
  /// Runs with race checks and with options after `change`; returns the result.
  template <class Change>
  [[nodiscard]] std::string said(const Change& change) const {
    snn::Options options;
    options.network = file("a.nir");
    options.step_seconds = 1e-3;
    options.data = {.kind = snn::DataKind::custom,
                    .inputs = kNirInputs,
                    .classes = 4,
                    .rate = 0.4,
                    .samples = 6};
    options.max_activity = 1;
    options.time_steps = 12;
    options.batch = 6;
    options.learning.rate = 0.01;
    change(options);
    return test::run_workload<snn::Snn>(options, test::small_machine(16));
  }
};

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("spikes of a NIR network are those of its equations, a step later in each layer") {
    const NirFolder folder;
    for (const std::string algorithm : {"published", "bits"}) {
      folder.run("--set workload.train=false --set workload.plan.algorithm=" + algorithm);
      for (int sample = 0; sample < 3; ++sample) {
        std::vector<Plain> all = plain_layers();
        const Raster found = raster_of(folder, sample, all);
        for (Plain& layer : all) {
          layer.v = layer.parameters.at("v_reset");
          layer.i.assign(layer.neurons, 0);
          layer.z.assign(layer.neurons, false);
        }
        std::vector<int> spikes(all.size());
        for (std::size_t t = 0; t < kNirSteps; ++t) {
          std::vector<bool> input = found[0][t];
          for (std::size_t l = 0; l < all.size(); ++l) {
            const std::vector<bool> before = all[l].z;
            CHECK(euler_step(all[l], input, 1e-3) > 1e-5);
            CHECK(found[l + 1][t] == all[l].z);
            for (const bool spike : all[l].z) spikes[l] += spike ? 1 : 0;
            input = before;
          }
        }
        for (const int count : spikes) {
          CHECK(count > 5);
          CHECK(count < 150);
        }
      }
    }
  }

  TEST_CASE("a trained NIR network goes on from its saved weights, whatever its file says") {
    const NirFolder folder;
    folder.run("");
    const auto first = test::saved(folder, "layer_1_recurrent").values;
    CHECK(first != test::transposed({5, 5, plain_layers()[1].recurrent}).values);
    const auto bytes = [&](const char* name) {
      return folder.read(fmt::format("result/tensors/{}.npy", name));
    };
    const std::string recurrent = bytes("layer_1_recurrent"), last = bytes("layer_2");
    std::filesystem::rename(folder.path() / "result/tensors", folder.path() / "given");
    folder.run("--set workload.train=false --set workload.weights=given");
    CHECK(bytes("layer_1_recurrent") == recurrent);
    CHECK(bytes("layer_2") == last);
  }

  TEST_CASE("a NIR network of one output runs") {
    std::vector<Plain> all = plain_layers();
    all.resize(1);
    Plain& only = all[0];
    only.neurons = 1;
    only.weights.resize(kNirInputs);
    only.bias.resize(1);
    only.recurrent.clear();
    for (auto& entry : only.parameters) entry.second.resize(1);
    NirFolder(all).run("--set workload.data.classes=1 --set workload.train=false");
  }

  TEST_CASE("a network of a NIR file runs and trains as its plain reference does") {
    for (const bool reads_out : {false, true})
      for (const bool train : {false, true}) {
        CAPTURE(reads_out);
        CAPTURE(train);
        std::vector<Plain> all = plain_layers();
        if (reads_out) {
          all.back().type = "LI";
          all.back().parameters = {
              {"tau", wave(4, 1e-3, 1e-2)}, {"r", wave(4, 0.1, 1)}, {"v_leak", wave(4, 0.1, 0.2)}};
        }
        const NirFolder folder(all, train ? First::product : First::convolution);
        CHECK(folder.said([&](snn::Options& options) {
          options.train = train;
          if (reads_out) options.loss = snn::Loss::membrane;
        }) == "passed");
      }
  }

  TEST_CASE("outputs that take their own spikes are trained as their plain reference is") {
    std::vector<Plain> all = plain_layers();
    all.back().recurrent = wave(16, 0.6, 0.4);
    const NirFolder folder(all);
    for (const snn::Algorithm algorithm : {snn::Algorithm::published, snn::Algorithm::bits})
      CHECK(folder.said([&](snn::Options& options) {
        options.steps = 3;
        options.plan.algorithm = algorithm;
      }) == "passed");
  }

  TEST_CASE("a network of a NIR file with a convolution is not trained") {
    const std::string found =
        NirFolder(plain_layers(), First::convolution).said([](snn::Options&) {});
    CHECK(found.starts_with("exit 2: workload.train: found true, allowed false with "));
    CHECK(test::holds(found, "through 'conv' (Conv2d), 'pool' (SumPool2d)"));
  }

  TEST_CASE(
      "a network of a NIR file keeps all spikes unless told otherwise, and says what it drops") {
    const NirFolder folder;
    const auto dropped = [&](const std::string& activity, double expected) {
      const auto answer = folder.done(
          "run a.json --out r --set workload.train=false --set workload.max_activity=" + activity);
      const auto report = folder.json("r/report.json");
      CHECK(report.at("config").at("workload").at("max_activity") == expected);
      CHECK(test::holds(answer.out, "\n  spikes dropped: ") == (expected < 1));
      return report.at("results").at("spikes_dropped").get<double>();
    };
    CHECK(dropped("null", 1) == 0);
    CHECK(dropped("0.05", 0.05) > 0);
  }

  TEST_CASE("a network of a NIR file must suit data and loss") {
    const NirFolder folder;
    const auto refused = [&](const std::string& message, const auto& change) {
      const std::string said = folder.said(change);
      CAPTURE(said);
      CHECK(said.starts_with("exit 2: "));
      CHECK(test::holds(said, message));
    };
    refused("workload.loss: found membrane, allowed spike_count, as the last neurons of ",
            [](snn::Options& its) { its.loss = snn::Loss::membrane; });
    refused("workload.network: found 5 inputs of ", [](snn::Options& its) { its.data.inputs = 6; });
    refused(
        "; it goes with --set workload.data.kind=custom --set workload.data.inputs=5 --set "
        "workload.data.classes=4 --set workload.loss=spike_count",
        [](snn::Options& its) { its.data.inputs = 6; });
    refused("found 4 outputs of the last one, allowed 5",
            [](snn::Options& its) { its.data.classes = 5; });
    refused("node 'neurons_0' (LIF): tau: found 0.00",
            [](snn::Options& its) { its.step_seconds = 1e-2; });
    refused(
        "workload.network: found " + folder.file("a.nir") + " with activations dense, allowed none",
        [](snn::Options& its) { its.activations = snn::Activations::dense; });
  }
}
