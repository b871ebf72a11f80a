#include <doctest/doctest.h>

#include "kernels/snn/network.h"
#include "sim/base/errors.h"
#include "tests/refusal.h"

using namespace tessera;
using data::NirNetwork;
using data::NirPopulation;

namespace {

using Parameters = std::map<std::string, std::vector<double>>;

std::shared_ptr<const data::LinearMap> single(double weight) {
  return std::make_shared<const data::LinearMap>(data::LinearMap{{1}, {{{0, weight}}}});
}
NirPopulation population(const std::string& name, const std::string& type, Parameters parameters,
                         std::optional<std::size_t> from) {
  NirPopulation result{name, type, std::move(parameters), {0.0}, {}};
  result.inputs.push_back({from, single(2)});
  return result;
}
Parameters lif(double tau, double r, double leak, double threshold, double reset) {
  return {{"tau", {tau}},
          {"r", {r}},
          {"v_leak", {leak}},
          {"v_threshold", {threshold}},
          {"v_reset", {reset}}};
}
NirNetwork one(const std::string& type, Parameters parameters) {
  return {1, {population("a", type, std::move(parameters), std::nullopt)}, {0}};
}
/// The layer of a NIR node, in steps of one millisecond.
snn::Layer layer_of(const std::string& type, const Parameters& parameters) {
  return snn::from_nir(one(type, parameters), 1e-3, "a.nir").layers.at(0);
}
std::string message(const NirNetwork& network) {
  return test::refusal([&] { return snn::from_nir(network, 1e-3, "a.nir"); });
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("an integrator steps the equation of its NIR node") {
    const double dt = 1e-3;
    const snn::Layer readout = layer_of("LI", {{"tau", {0.01}}, {"r", {2}}, {"v_leak", {0.1}}});
    CHECK(readout.kind == snn::NeuronKind::integrator);
    double w = 0, x = 0;
    for (int step = 0; step < 40; ++step) {
      const double spike = step % 4 == 0 ? 1 : 0;
      w += dt / 0.01 * (0.1 - w + 2 * 2 * spike);
      x = readout.alpha[0] * x + readout.gain[0] * (2 * spike + readout.bias[0]);
      CHECK(x == doctest::Approx(w).epsilon(1e-5));
    }
  }

  TEST_CASE("every type of node that the message of an unknown one names is taken") {
    const auto numbers = [](std::vector<std::uint64_t> shape, double value) {
      std::uint64_t count = 1;
      for (const std::uint64_t extent : shape) count *= extent;
      return data::NirParameter{std::move(shape), std::vector<double>(count, value), {}};
    };
    const data::NirParameter v = numbers({4}, 0.01), one = numbers({}, 1), zero = numbers({}, 0);
    using Node = std::map<std::string, data::NirParameter>;
    const Node window{{"kernel_size", one}, {"stride", one}, {"padding", zero}};
    const auto filters = [&](std::vector<std::uint64_t> shape) {
      return Node{{"weight", numbers(std::move(shape), 1)},
                  {"bias", one},
                  {"stride", one},
                  {"padding", zero},
                  {"dilation", one},
                  {"groups", one}};
    };
    const std::map<std::string, Node> examples{
        {"Affine", {{"weight", numbers({4, 4}, 1)}, {"bias", v}}},
        {"AvgPool2d", window},
        {"Conv1d", filters({1, 1, 1})},
        {"Conv2d", filters({1, 1, 1, 1})},
        {"CubaLIF",
         {{"tau_mem", v}, {"tau_syn", v}, {"r", v}, {"v_leak", zero}, {"v_threshold", v}}},
        {"Flatten", {{"start_dim", one}}},
        {"IF", {{"r", v}, {"v_threshold", v}}},
        {"Input", {{"shape", numbers({1}, 4)}}},
        {"LI", {{"tau", v}, {"r", v}, {"v_leak", v}}},
        {"LIF", {{"tau", v}, {"r", v}, {"v_leak", v}, {"v_threshold", v}}},
        {"Linear", {{"weight", numbers({4, 4}, 1)}}},
        {"Output", {}},
        {"Scale", {{"scale", v}}},
        {"SumPool2d", window}};
    const auto taken = [&](const std::string& type) -> std::string {
      const bool neurons = type.find("LI") == 0 || type.find("IF") != std::string::npos;
      const bool plane = type.find("2d") != std::string::npos;
      const auto shape =
          plane ? data::NirParameter{{3}, {1, 2, 2}, {}} : data::NirParameter{{2}, {1, 4}, {}};
      const auto found = examples.find(type);
      data::NirGraph graph;
      graph.nodes = {{"in", {"Input", {{"shape", shape}}}},
                     {"x", {type, found == examples.end() ? Node{} : found->second}},
                     {"out", {"Output", {}}}};
      graph.edges = {{"in", "x"}, {"x", "out"}};
      if (!neurons) {
        graph.nodes["a"] = {"IF", examples.at("IF")};
        graph.edges = {{"in", "x"}, {"x", "a"}, {"a", "out"}};
      }
      return test::refusal([&] {
        return snn::require_sound(snn::from_nir(data::nir_network(graph, "a.nir"), 1e-3, "a.nir"),
                                  "");
      });
    };
    const std::string start = "nodes of this type are not supported, but ";
    std::string names = taken("CubaLI");
    REQUIRE(names.find(start) != std::string::npos);
    names = names.substr(names.find(start) + start.size());
    std::size_t count = 0;
    for (std::size_t at = 0; at < names.size(); ++count) {
      const std::size_t end = std::min(names.find(", ", at), names.size());
      const std::string type = names.substr(at, end - at);
      CAPTURE(type);
      CHECK(taken(type) == "");
      at = end + 2;
    }
    CHECK(count == examples.size());
  }

  TEST_CASE("NIR networks that are no chain of layers are refused by name") {
    CHECK(message(one("LIF", lif(0.5e-3, 1, 0, 1, 0))) ==
          "a.nir: node 'a' (LIF): tau: found 0.0005 s, allowed from the time step of 0.001 s on");
    NirNetwork chain = one("LIF", lif(0.01, 1, 0, 1, 0));
    chain.populations.push_back(population("b", "LIF", lif(0.01, 1, 0, 1, 0), 0));
    CHECK(message(chain) == "a.nir: the Output shows 'a', expected the last layer, 'b'");
    chain.outputs = {1};
    CHECK(message(chain) == "");
    chain.populations[1].inputs.push_back({std::nullopt, single(1)});
    CHECK(message(chain) ==
          "a.nir: node 'b' (LIF): uses the spikes of 'Input', expected those of the layer before "
          "it and its own");
    chain.populations[1] = population("b", "LI", {{"tau", {0.01}}, {"r", {1}}, {"v_leak", {0}}}, 0);
    REQUIRE(message(chain) == "");
    chain.populations[1].inputs.push_back({1, single(1)});
    CHECK(message(chain) ==
          "a.nir: node 'b' (LI): uses its own output, allowed for neurons that spike");
  }
}
