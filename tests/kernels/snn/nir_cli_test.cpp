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

#include "tests/cli/command.h"
#include "tests/cli/saved.h"
#include "tests/sim/data/nir_writer.h"

using namespace tessera;
using test::CommandFolder;
using test::NirItem;

/// Networks of NIR files as users run them.
namespace {

constexpr int kNirInputs = 5, kNirSteps = 50;

/// Weights or parameters: first + scale sin(1.7 i).
std::vector<double> wave(std::uint64_t count, double scale, double first) {
  std::vector<double> values;
  for (std::uint64_t i = 0; i < count; ++i)
    values.push_back(first + scale * std::sin(first + 1.7 * static_cast<double>(i)));
  return values;
}

/// A layer as its node says it, and the weights that lead to it.
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

/// The layers as a graph: in, affine_0, neurons_0, ...
NirItem graph_of(const std::vector<Plain>& all) {
  NirItem graph{"", {}};
  const auto numbers = [](std::vector<std::uint64_t> shape, const std::vector<double>& values) {
    return test::nir_numbers(std::move(shape), values);
  };
  const auto add = [&](const std::string& name, data::NirNode node, const std::string& from) {
    graph.nodes.push_back({name, std::move(node)});
    if (!from.empty()) graph.edges.emplace_back(from, name);
  };
  add("in", {"Input", {{"shape", numbers({1}, {kNirInputs})}}}, "");
  std::string before = "in";
  for (std::size_t l = 0; l < all.size(); ++l) {
    const Plain& layer = all[l];
    const std::string affine = fmt::format("affine_{}", l), name = fmt::format("neurons_{}", l);
    add(affine,
        {"Affine",
         {{"weight", numbers({layer.neurons, layer.inputs}, layer.weights)},
          {"bias", numbers({layer.neurons}, layer.bias)}}},
        before);
    data::NirNode node{layer.type, {}};
    for (const auto& [key, values] : layer.parameters)
      node.parameters[key] = numbers({layer.neurons}, values);
    add(name, node, affine);
    if (!layer.recurrent.empty()) {
      const std::string own = fmt::format("own_{}", l);
      add(own, {"Linear", {{"weight", numbers({layer.neurons, layer.neurons}, layer.recurrent)}}},
          name);
      graph.edges.emplace_back(own, name);
    }
    before = name;
  }
  add("out", {"Output", {{"shape", numbers({1}, {4})}}}, before);
  return graph;
}

/// NIR's equations by forward Euler, in double; CubaLIF takes the current that it has just got.
/// Returns how close a voltage comes to its threshold.
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

/// [layer][step][neuron] of one sample of raster.csv, the inputs first.
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

void run_network(const CommandFolder& folder, const std::string& more) {
  folder.done("run a.json --out result --set report.tensors=all " + more);
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("spikes of a NIR network are those of its equations, a step later in each layer") {
    const CommandFolder folder{{"a.json", kNirConfig}};
    test::write_nir(folder.path() / "a.nir", graph_of(plain_layers()));
    for (const std::string algorithm : {"published", "bits"}) {
      run_network(folder, "--set workload.train=false --set workload.plan.algorithm=" + algorithm);
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
    const CommandFolder folder{{"a.json", kNirConfig}};
    std::vector<Plain> all = plain_layers();
    test::write_nir(folder.path() / "a.nir", graph_of(all));
    run_network(folder, "");
    const auto first = test::saved(folder, "layer_1_recurrent").values;
    CHECK(first != test::transposed({5, 5, all[1].recurrent}).values);
    const auto bytes = [&](const char* name) {
      return folder.read(fmt::format("result/tensors/{}.npy", name));
    };
    const std::string recurrent = bytes("layer_1_recurrent"), last = bytes("layer_2");
    std::filesystem::rename(folder.path() / "result/tensors", folder.path() / "given");
    run_network(folder, "--set workload.train=false --set workload.weights=given");
    CHECK(bytes("layer_1_recurrent") == recurrent);
    CHECK(bytes("layer_2") == last);
  }

  TEST_CASE("a NIR network of one output runs") {
    const CommandFolder folder{{"a.json", kNirConfig}};
    std::vector<Plain> all = plain_layers();
    all.resize(1);
    Plain& only = all[0];
    only.neurons = 1;
    only.weights.resize(kNirInputs);
    only.bias.resize(1);
    only.recurrent.clear();
    for (auto& entry : only.parameters) entry.second.resize(1);
    test::write_nir(folder.path() / "a.nir", graph_of(all));
    run_network(folder, "--set workload.data.classes=1 --set workload.train=false");
  }
}
