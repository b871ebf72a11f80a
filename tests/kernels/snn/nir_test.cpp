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
/// A reset to `leak`.
Parameters cuba_lif(double tau_mem, double tau_syn, double r, double leak, double w_in,
                    double threshold) {
  return {{"tau_mem", {tau_mem}}, {"tau_syn", {tau_syn}}, {"r", {r}},
          {"v_leak", {leak}},     {"w_in", {w_in}},       {"v_threshold", {threshold}},
          {"v_reset", {leak}}};
}
NirNetwork one(const std::string& type, Parameters parameters) {
  return {1, {population("a", type, std::move(parameters), std::nullopt)}, {0}};
}
/// In steps of a millisecond.
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

  TEST_CASE("a CubaLIF is one step ahead of forward Euler that takes the current before") {
    const double dt = 1e-3, tau_mem = 0.005, tau_syn = 0.002, r = 4, w_in = 1.5;
    const snn::Layer layer = layer_of("CubaLIF", cuba_lif(tau_mem, tau_syn, r, -0.2, w_in, 0.97));
    double i = 0, v = -0.2, current = 0, u = 0;
    bool before = false;
    int spikes = 0;
    for (int step = 0; step < 60; ++step) {
      const double spike = step % 3 != 0 ? 2 : 0;
      // nir/paper/03_rnn/extras/debug_CubaLIF/nir_reference_impl.py, but for its reset.
      const double last = i;
      i += dt / tau_syn * (-i + w_in * spike);
      v += dt / tau_mem * (-0.2 - v + r * last);
      const bool fires = v > 0.97;
      CHECK(fires == before);
      if (fires) v = -0.2;
      current = layer.beta[0] * current + spike;
      u = (u > layer.threshold[0] ? 0 : layer.alpha[0] * u) + layer.gain[0] * current;
      before = u > layer.threshold[0];
      spikes += before ? 1 : 0;
    }
    CHECK(spikes > 3);
    CHECK(spikes < 50);
  }

  TEST_CASE("layers, recurrence and integrate-and-fire") {
    NirNetwork nir = one("LIF", lif(0.01, 1, 0, 1, 0));
    nir.populations[0].inputs.push_back({0, single(-3)});
    nir.populations.push_back(
        population("b", "IF", {{"r", {5}}, {"v_threshold", {1}}, {"v_reset", {0}}}, 0));
    nir.outputs = {1};
    const snn::Network network = snn::from_nir(nir, 0.5e-3, "a.nir");
    snn::require_sound(network, "workload.network");
    REQUIRE(network.layers.size() == 2);
    CHECK(network.layers[0].recurrent_weights == std::vector<float>{-3});
    CHECK(network.layers[1].alpha == std::vector<float>{1});
    CHECK(network.layers[1].gain == std::vector<float>{2.5e-3F});
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

  TEST_CASE("matrices that stand for other than one Linear or Affine are not trained") {
    NirNetwork nir = one("LIF", lif(0.01, 1, 0, 1, 0));
    CHECK_NOTHROW(snn::require_trainable(nir, "a.nir"));
    nir.populations[0].inputs[0].own = false;
    nir.populations[0].inputs[0].nodes = {"'conv' (Conv2d)", "'pool' (SumPool2d)"};
    const std::string message =
        test::refusal<KeyError>([&] { snn::require_trainable(nir, "a.nir"); });
    CHECK(message.starts_with(
        "workload.train: found true, allowed false with a.nir: node 'a' (LIF) takes the spikes of "
        "'Input' through 'conv' (Conv2d), 'pool' (SumPool2d), "));
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
          "a.nir: node 'b' (LIF): takes the spikes of 'Input', expected those of the layer before "
          "it and its own");
    chain.populations[1] = population("b", "LI", {{"tau", {0.01}}, {"r", {1}}, {"v_leak", {0}}}, 0);
    REQUIRE(message(chain) == "");
    chain.populations[1].inputs.push_back({1, single(1)});
    CHECK(message(chain) ==
          "a.nir: node 'b' (LI): takes its own output, allowed for neurons that spike");
  }
}
