#include "kernels/snn/network.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "kernels/snn/program.h"
#include "sim/base/errors.h"

namespace tessera::snn {

namespace {

enum class Values : std::uint8_t { finite, any_number };

/// Checks one list of one layer.
class LayerCheck {
 public:
  LayerCheck(const std::string& key, std::size_t layer) : key_(key), layer_(layer) {}

  void list(std::string_view name, const std::vector<float>& values, std::uint64_t size,
            Values allowed = Values::finite) const {
    if (values.size() != size)
      fail(fmt::format("{} of layer {}: found {} values, allowed {}", name, layer_, values.size(),
                       size));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool sound =
          allowed == Values::finite ? std::isfinite(values[i]) : !std::isnan(values[i]);
      if (!sound)
        fail(fmt::format("{} of layer {}: found {} at {}, allowed {}", name, layer_, values[i], i,
                         allowed == Values::finite ? "finite numbers" : "numbers"));
    }
  }
  void optional(std::string_view name, const std::vector<float>& values, std::uint64_t size) const {
    if (!values.empty()) list(name, values, size);
  }
  void inputs(std::uint32_t found, std::uint32_t before) const {
    if (found != before)
      fail(fmt::format("layer {}: found {} inputs, allowed {}, the neurons of the layer before",
                       layer_, found, before));
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const { throw KeyError(key_, problem); }

  const std::string& key_;
  std::size_t layer_;
};

}  // namespace

std::uint64_t Network::neurons() const {
  std::uint64_t sum = 0;
  for (const Layer& layer : layers) sum += layer.neurons;
  return sum;
}

std::uint64_t Network::parameters() const {
  std::uint64_t sum = 0;
  for (const Layer& layer : layers) sum += std::uint64_t{layer.rows()} * layer.neurons;
  return sum;
}

Network only(const Network& network, const std::vector<std::vector<std::uint32_t>>& neurons) {
  Network some;
  for (std::size_t l = 0; l < neurons.size(); ++l) {
    const Layer& all = network.layers[l];
    Layer& layer = some.layers.emplace_back();
    layer.kind = all.kind;
    layer.inputs = all.inputs;
    layer.neurons = static_cast<std::uint32_t>(neurons[l].size());
    for (const auto values :
         {&Layer::weights, &Layer::recurrent_weights, &Layer::bias, &Layer::alpha, &Layer::gain,
          &Layer::threshold, &Layer::second_threshold, &Layer::beta, &Layer::rho, &Layer::strength})
      for (std::size_t row = 0; row < (all.*values).size(); row += all.neurons)
        for (const std::uint32_t n : neurons[l]) (layer.*values).push_back((all.*values)[row + n]);
  }
  return some;
}

void require_sound(const Network& network, const std::string& key) {
  if (network.layers.empty()) throw KeyError(key, "found no layers, allowed one or more");
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const Layer& layer = network.layers[i];
    const LayerCheck check(key, i);
    const std::uint64_t n = layer.neurons;
    if (n == 0 || layer.inputs == 0)
      throw KeyError(key, fmt::format("layer {}: found {} inputs and {} neurons, allowed one or "
                                      "more of each",
                                      i, layer.inputs, n));
    if (i > 0) check.inputs(layer.inputs, network.layers[i - 1].neurons);
    check.list("weights", layer.weights, layer.inputs * n);
    check.optional("recurrent weights", layer.recurrent_weights, n * n);
    check.optional("bias", layer.bias, n);
    check.list("alpha", layer.alpha, n);
    check.list("gain", layer.gain, n);
    if (layer.kind == NeuronKind::cuba_lif) check.list("beta", layer.beta, n);
    if (layer.kind == NeuronKind::adaptive) {
      check.list("rho", layer.rho, n);
      check.list("strength", layer.strength, n);
    }
    if (layer.kind == NeuronKind::integrator) continue;
    check.list("threshold", layer.threshold, n, Values::any_number);
    check.list("second threshold", layer.second_threshold, n, Values::any_number);
  }
}

// Parameters of neurons as tile code takes them.

namespace {

/// Of two neurons, as the tile code has it.
struct Parameters {
  float alpha[2], gain[2], bias[2], threshold[2], second[2], beta[2], rho[2], keep[2], through[2],
      strength[2];
};
static_assert(sizeof(Parameters) == kPairBytes);

Parameters parameters_of(const Layer& layer, std::uint64_t begin, std::uint64_t end) {
  Parameters made{};
  for (std::uint32_t lane = 0; lane < 2; ++lane) {
    const std::uint64_t n = begin + lane;
    constexpr float kNever = std::numeric_limits<float>::infinity();
    made.threshold[lane] = kNever;
    made.second[lane] = kNever;
    if (n >= end) continue;
    made.alpha[lane] = layer.alpha[n];
    made.gain[lane] = layer.gain[n];
    if (!layer.bias.empty()) made.bias[lane] = layer.bias[n];
    if (layer.kind == NeuronKind::integrator) continue;
    made.threshold[lane] = layer.threshold[n];
    made.second[lane] = layer.second_threshold[n];
    if (layer.kind == NeuronKind::cuba_lif) made.beta[lane] = layer.beta[n];
    if (layer.kind != NeuronKind::adaptive) continue;
    made.rho[lane] = layer.rho[n];
    made.keep[lane] = 1 - layer.rho[n];
    made.through[lane] = made.keep[lane] / layer.rho[n];
    made.strength[lane] = layer.strength[n];
  }
  return made;
}

using Two = const float (&)[2];

}  // namespace

void fill_parameters(const Layer& layer, kernels::Interval neurons, std::span<std::byte> into) {
  std::byte* to = into.data();
  for (std::uint64_t n = neurons.begin; n < neurons.end; n += 2, to += kPairBytes) {
    const Parameters made = parameters_of(layer, n, neurons.end);
    std::memcpy(to, &made, sizeof made);
  }
}

void fill_streams(const Layer& layer, kernels::Interval neurons, std::span<std::byte> into) {
  const std::uint64_t pairs = ceil_div<std::uint64_t>(neurons.size(), 2);
  const std::uint32_t values = stream_values(layer.kind);
  for (std::uint64_t pair = 0; pair < pairs; ++pair) {
    const Parameters made = parameters_of(layer, neurons.begin + 2 * pair, neurons.end);
    // A spike is above both thresholds: what is above neither is told by one.
    float second[2], none[2] = {};
    for (std::uint32_t lane = 0; lane < 2; ++lane)
      second[lane] = std::min(made.second[lane], made.threshold[lane]);
    const auto put = [&](std::uint64_t place, Two two) {
      std::memcpy(into.data() + place * 8, two, sizeof two);
    };
    const auto stream = [&](std::uint32_t which, const std::array<const float(*)[2], 4>& all) {
      for (std::uint32_t i = 0; i < values; ++i)
        put(pairs + (which * pairs + pair) * values + i, *all[i]);
    };
    put(pair, made.bias);
    if (layer.kind == NeuronKind::integrator) {
      stream(0, {&made.alpha});
      stream(1, {&made.gain});
      continue;
    }
    const bool adapts = layer.kind == NeuronKind::adaptive;
    stream(0, {&made.alpha, &made.gain, adapts ? &made.rho : &made.beta, &made.strength});
    stream(1, {&made.threshold, &second, adapts ? &made.keep : &none, &none});
  }
}

}  // namespace tessera::snn
