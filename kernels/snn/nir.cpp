#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "kernels/snn/network.h"
#include "sim/base/errors.h"

namespace tessera::snn {

namespace {

using data::NirPopulation;

constexpr double kSecond = 0.9;  // share of the threshold from which neurons carry gradient
constexpr std::uint64_t kMostNeurons = 65535;  // ids in lists are below 65,536
constexpr std::uint64_t kMostWeights = std::uint64_t{1} << 28;

/// Makes a layer of one population.
class Reader {
 public:
  Reader(const NirPopulation& from, double seconds, const std::string& file)
      : from_(from), seconds_(seconds), file_(file) {}

  Layer layer(std::uint32_t inputs) {
    if (from_.neurons() > kMostNeurons || inputs > kMostNeurons)
      fail("found {} neurons and {} inputs, allowed {}", from_.neurons(), inputs, kMostNeurons);
    layer_.inputs = inputs;
    layer_.neurons = static_cast<std::uint32_t>(from_.neurons());
    set_kind();
    for (std::size_t i = 0; i < from_.neurons(); ++i) add_neuron(i);
    return std::move(layer_);
  }
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> problem, Args&&... args) const {
    throw UserError("{}: node '{}' ({}): {}", file_, from_.name, from_.type,
                    fmt::format(problem, std::forward<Args>(args)...));
  }

 private:
  void set_kind() {
    if (from_.type == "LIF" || from_.type == "IF") {
      layer_.kind = NeuronKind::lif;
    } else if (from_.type == "CubaLIF") {
      layer_.kind = NeuronKind::cuba_lif;
    } else {
      check(from_.type == "LI", "snn: no neurons are made of the NIR type {}", from_.type);
      layer_.kind = NeuronKind::integrator;
    }
  }
  [[nodiscard]] double value(const char* name, std::size_t i) const {
    return from_.parameters.at(name)[i];
  }
  /// Share of a value that decays in a step; throws UserError if the step exceeds the time
  /// constant.
  [[nodiscard]] double decay(const char* tau, std::size_t i) const {
    const double taken = seconds_ / value(tau, i);
    if (taken > 1)
      fail("{}: found {} s, allowed from the time step of {} s on", tau, value(tau, i), seconds_);
    return taken;
  }

  void add_neuron(std::size_t i) {
    const bool spikes = layer_.kind != NeuronKind::integrator;
    const double rest = spikes ? value("v_reset", i) : 0;
    const auto add = [](std::vector<float>& list, double number) {
      list.push_back(static_cast<float>(number));
    };
    double bias = from_.constant[i];
    if (from_.type == "IF") {
      add(layer_.alpha, 1);
      add(layer_.gain, seconds_ * value("r", i));
    } else {
      const bool current = layer_.kind == NeuronKind::cuba_lif;
      const double leak = decay(current ? "tau_mem" : "tau", i);
      const double gain = leak * value("r", i);
      const double offset = value("v_leak", i) - rest;
      add(layer_.alpha, 1 - leak);
      if (current) {
        if (offset != 0)
          fail("v_leak: found {}, allowed its v_reset, {}", value("v_leak", i), rest);
        const double synapse = decay("tau_syn", i);
        add(layer_.beta, 1 - synapse);
        add(layer_.gain, gain * synapse * value("w_in", i));
      } else {
        if (gain == 0 && offset != 0) fail("r: found 0, allowed others, as v_leak acts through it");
        if (offset != 0) bias += offset / value("r", i);
        add(layer_.gain, gain);
      }
    }
    add(layer_.bias, bias);
    if (!spikes) return;
    const double threshold = value("v_threshold", i) - rest;
    add(layer_.threshold, threshold);
    add(layer_.second_threshold, threshold - (1 - kSecond) * std::abs(threshold));
  }

  const NirPopulation& from_;
  double seconds_;
  std::string file_;
  Layer layer_;
};

/// Weights as [input][neuron].
std::vector<float> weights_of(const data::LinearMap& map, std::uint32_t inputs) {
  const std::size_t neurons = map.rows.size();
  std::vector<float> weights(inputs * neurons, 0.0F);
  for (std::size_t neuron = 0; neuron < neurons; ++neuron)
    for (const data::Term& term : map.rows[neuron])
      weights[term.input * neurons + neuron] = static_cast<float>(term.weight);
  return weights;
}

}  // namespace

Network from_nir(const data::NirNetwork& nir, double seconds, const std::string& file) {
  Network network;
  auto inputs = static_cast<std::uint32_t>(nir.inputs);
  std::uint64_t weights = 0;
  for (std::size_t i = 0; i < nir.populations.size(); ++i) {
    const NirPopulation& from = nir.populations[i];
    Reader reader(from, seconds, file);
    Layer layer = reader.layer(inputs);
    if (layer.kind == NeuronKind::integrator && i + 1 < nir.populations.size())
      reader.fail("never spikes, expected neurons that do before the last layer");
    const auto count = [&](std::uint64_t rows) {
      weights += rows * layer.neurons;
      if (weights > kMostWeights)
        reader.fail("with it the network has {} weights, allowed {}", weights, kMostWeights);
    };
    count(inputs);
    const auto before = i == 0 ? std::optional<std::size_t>{} : std::optional<std::size_t>{i - 1};
    for (const NirPopulation::Input& input : from.inputs) {
      if (input.from == before) {
        layer.weights = weights_of(*input.weights, inputs);
      } else if (input.from == i) {
        if (layer.kind == NeuronKind::integrator)
          reader.fail("uses its own output, allowed for neurons that spike");
        count(layer.neurons);
        layer.recurrent_weights = weights_of(*input.weights, layer.neurons);
      } else {
        reader.fail("uses the spikes of '{}', expected those of the layer before it and its own",
                    input.from ? nir.populations[*input.from].name : "Input");
      }
    }
    if (layer.weights.empty()) layer.weights.assign(std::size_t{inputs} * layer.neurons, 0.0F);
    inputs = layer.neurons;
    network.layers.push_back(std::move(layer));
  }
  if (nir.outputs != std::vector<std::size_t>{nir.populations.size() - 1}) {
    throw UserError("{}: the Output shows '{}', expected the last layer, '{}'", file,
                    nir.populations[nir.outputs.front()].name, nir.populations.back().name);
  }
  return network;
}

std::string stepping(const Network& network, double seconds) {
  const bool current =
      std::any_of(network.layers.begin(), network.layers.end(),
                  [](const Layer& layer) { return layer.kind == NeuronKind::cuba_lif; });
  return fmt::format("forward Euler, dt {} s, spikes act in the next step{}", seconds,
                     current ? ", currents on voltages in the same" : "");
}

void require_trainable(const data::NirNetwork& nir, const std::string& file) {
  for (const NirPopulation& to : nir.populations)
    for (const NirPopulation::Input& input : to.inputs) {
      if (input.own) continue;
      const std::string through =
          input.nodes.empty() ? "no weights" : fmt::format("{}", fmt::join(input.nodes, ", "));
      throw KeyError("workload.train",
                     "found true, allowed false with {}: node '{}' ({}) takes the "
                     "spikes of '{}' through {}, of which training a matrix would keep "
                     "no structure; it is for one Linear or Affine, used once",
                     file, to.name, to.type,
                     input.from ? nir.populations[*input.from].name : "Input", through);
    }
}

}  // namespace tessera::snn
