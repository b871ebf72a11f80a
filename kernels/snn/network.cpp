#include "kernels/snn/network.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "kernels/snn/program.h"
#include "kernels/snn/snn.h"
#include "sim/base/errors.h"
#include "sim/data/random.h"
#include "sim/data/weights_folder.h"

namespace tessera::snn {

namespace {

/// A list of a layer's numbers, one per weight or per neuron.
struct LayerList {
  const char* name;
  std::vector<float> Layer::*values;
};
constexpr LayerList kLists[] = {{"weights", &Layer::weights},
                                {"recurrent weights", &Layer::recurrent_weights},
                                {"bias", &Layer::bias},
                                {"alpha", &Layer::alpha},
                                {"gain", &Layer::gain},
                                {"beta", &Layer::beta},
                                {"rho", &Layer::rho},
                                {"strength", &Layer::strength},
                                {"threshold", &Layer::threshold},
                                {"second threshold", &Layer::second_threshold}};

/// Parameters of two neurons, in the layout of tile code.
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

constexpr std::uint64_t kTrials = 320;   // random stream of the seed
constexpr std::uint64_t kWeights = 321;  // random streams, two per layer

// In thresholds: about the least deviation at which activity spreads through the published shapes.
constexpr double kDeviation = 1.3;
constexpr double kMostLeft = 0.9999;
constexpr double kLeastThreshold = 1e-6;
constexpr double kFewest = 0.1;  // least spikes per step assumed for the scale of weights

/// Mean square of the states of neurons that never spike, if the sums of weights are independent
/// from step to step with mean square 1: u' = left u + (1 - left) i, i' = current i + sum.
double gain_of(const NeuronOptions& neuron) {
  const double left = std::min(neuron.alpha, kMostLeft);
  const double current =
      neuron.kind == NeuronKind::cuba_lif ? std::min(neuron.beta, kMostLeft) : 0.0;
  return (1 - left) * (1 - left) * (1 + left * current) /
         ((1 - left * current) * (1 - left * left) * (1 - current * current));
}

double deviation_of(const NeuronOptions& neuron) {
  return kDeviation * std::max(std::abs(neuron.threshold), kLeastThreshold);
}

/// Bound of seeded weights as a multiple of sqrt(6 / inputs). By default such that `spikes` spikes
/// per step from each of `sources` let the states of neurons deviate by kDeviation times their
/// threshold.
double scale_of(const Options& options, std::uint32_t inputs, double spikes,
                std::uint32_t sources) {
  if (options.weight_scale > 0) return options.weight_scale;
  const double gain = gain_of(options.neuron);
  // A weight within b has the variance b^2 / 3.
  const double bound =
      deviation_of(options.neuron) * std::sqrt(3 / (gain * std::max(spikes, kFewest) * sources));
  return bound / std::sqrt(6.0 / inputs);
}

/// Spikes per neuron and step, from a trial of neurons that begin at rest and receive uniformly
/// distributed sums.
double spike_rate(const Options& options) {
  constexpr std::uint64_t kTried = 256;
  const NeuronOptions& neuron = options.neuron;
  const std::uint64_t steps = std::min(options.time_steps, 256U);
  const double bound = deviation_of(neuron) * std::sqrt(3 / gain_of(neuron));
  std::uint64_t spikes = 0;
  for (std::uint64_t k = 0; k < kTried; ++k) {
    double u = 0, current = 0, adapted = 0;
    for (std::uint64_t t = 0; t < steps; ++t) {
      const double raised = neuron.kind == NeuronKind::adaptive ? neuron.strength * adapted : 0;
      const bool spiked = u - raised > neuron.threshold;
      const double sum = bound * data::random_signed(options.seed, kTrials, k * steps + t);
      current = (neuron.kind == NeuronKind::cuba_lif ? neuron.beta * current : 0) + sum;
      adapted = neuron.rho * adapted + (spiked ? 1 - neuron.rho : 0);
      u = (spiked ? 0 : neuron.alpha * u) + (1 - neuron.alpha) * current;
      spikes += spiked ? 1 : 0;
    }
  }
  return static_cast<double>(spikes) /
         static_cast<double>(kTried * std::max<std::uint64_t>(steps, 1));
}

/// Uniform f32 weights within +-scale * sqrt(6 / inputs).
std::vector<float> seeded_weights(const Options& options, std::uint64_t stream, double scale,
                                  std::uint32_t inputs, std::uint32_t neurons) {
  const double bound = scale * std::sqrt(6.0 / inputs);
  std::vector<float> weights(std::size_t{inputs} * neurons);
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<float>(bound * data::random_signed(options.seed, stream, i, 23));
  return weights;
}

/// Sets the parameters that all neurons share.
void fill_parameters(const Options& options, Layer& layer) {
  const NeuronOptions& neuron = options.neuron;
  const auto all = [&](double value) {
    return std::vector<float>(layer.neurons, static_cast<float>(value));
  };
  layer.alpha = all(neuron.alpha);
  layer.gain = all(1 - neuron.alpha);
  if (layer.kind == NeuronKind::integrator) return;
  layer.threshold = all(neuron.threshold);
  layer.second_threshold = all(neuron.second_threshold);
  if (layer.kind == NeuronKind::cuba_lif) layer.beta = all(neuron.beta);
  if (layer.kind != NeuronKind::adaptive) return;
  layer.rho = all(neuron.rho);
  layer.strength = all(neuron.strength);
}

// Second threshold of outputs, low enough that all carry gradient.
constexpr float kAlways = -100;

/// Reads the user's weights from a folder, in the form of the program's tensors.
void read_weights(Network& network, const std::string& folder) {
  data::WeightsFolder given(folder, "layer_", "workload.weights");
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    Layer& layer = network.layers[i];
    const auto read = [&](const char* suffix, std::uint32_t from) {
      return given.read(fmt::format("layer_{}{}", i, suffix), {from, layer.neurons},
                        program::Type::f32);
    };
    layer.weights = read("", layer.inputs);
    if (layer.recurrent()) layer.recurrent_weights = read("_recurrent", layer.neurons);
  }
  given.require_all_read();
}

}  // namespace

std::string suiting(const Options& options, const Network& network) {
  if (options.network.empty()) return "";
  const bool reads_out = network.layers.back().kind == NeuronKind::integrator;
  return fmt::format(
      "; it goes with --set workload.data.kind=custom --set workload.data.inputs={} --set "
      "workload.data.classes={} --set workload.loss={}",
      network.inputs(), network.outputs(),
      config::name_of(kLosses, reads_out ? Loss::membrane : Loss::spike_count));
}

namespace {

Network network_of_file(const Options& options, std::uint32_t inputs) {
  const std::string& file = options.network;
  const data::NirNetwork nir = data::nir_network(data::read_nir(file), file);
  Network network = from_nir(nir, options.step_seconds, file);
  if (options.train) require_trainable(nir, file);
  if (network.inputs() != inputs)
    throw KeyError("workload.network",
                   "found {} inputs of {}, allowed {}, those of "
                   "workload.data{}",
                   network.inputs(), file, inputs, suiting(options, network));
  Layer& last = network.layers.back();
  const bool reads_out = last.kind == NeuronKind::integrator;
  if (reads_out != (options.loss == Loss::membrane))
    throw KeyError("workload.loss", "found {}, allowed {}, as the last neurons of {} {}{}",
                   config::name_of(kLosses, options.loss), reads_out ? "membrane" : "spike_count",
                   file, reads_out ? "never spike" : "spike", suiting(options, network));
  std::fill(last.second_threshold.begin(), last.second_threshold.end(), kAlways);
  return network;
}

Network network_of_options(const Options& options, std::uint32_t inputs, double events) {
  Network network;
  const bool chosen = options.weights.empty() && options.weight_scale == 0;
  const double active = chosen ? std::min(options.max_activity, spike_rate(options)) : 0;
  double spikes = events;
  for (std::size_t i = 0; i < options.layers.size(); ++i) {
    Layer layer;
    const bool last = i + 1 == options.layers.size();
    layer.kind =
        last && options.loss == Loss::membrane ? NeuronKind::integrator : options.neuron.kind;
    layer.inputs = inputs;
    layer.neurons = options.layers[i];
    const bool seeded = options.weights.empty();
    const bool recurrent = options.neuron.recurrent && !last;
    const auto weights = [&](std::uint64_t stream, std::uint32_t from, double fired) {
      if (!seeded) return std::vector<float>(std::size_t{from} * layer.neurons);
      const double scale = scale_of(options, from, fired, recurrent ? 2 : 1);
      return seeded_weights(options, stream, scale, from, layer.neurons);
    };
    layer.weights = weights(kWeights + 2 * i, inputs, spikes);
    spikes = active * layer.neurons;
    if (recurrent) layer.recurrent_weights = weights(kWeights + 2 * i + 1, layer.neurons, spikes);
    fill_parameters(options, layer);
    if (last) std::fill(layer.second_threshold.begin(), layer.second_threshold.end(), kAlways);
    inputs = layer.neurons;
    network.layers.push_back(std::move(layer));
  }
  return network;
}

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

void require_sound(const Network& network, const std::string& key) {
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const Layer& layer = network.layers[i];
    if (layer.neurons == 0 || layer.inputs == 0)
      throw KeyError(key,
                     "layer {}: found {} inputs and {} neurons, allowed one or "
                     "more of each",
                     i, layer.inputs, layer.neurons);
    for (const auto& [name, values] : kLists) {
      const bool infinite = values == &Layer::threshold || values == &Layer::second_threshold;
      const std::vector<float>& all = layer.*values;
      for (std::size_t at = 0; at < all.size(); ++at)
        if (infinite ? std::isnan(all[at]) : !std::isfinite(all[at]))
          throw KeyError(key, "{} of layer {}: found {} at {}, allowed {}", name, i, all[at], at,
                         infinite ? "numbers" : "finite numbers");
    }
  }
}

// Parameters of neurons in the layout of tile code.

void fill_parameters(const Layer& layer, Interval neurons, std::span<std::byte> into) {
  std::byte* to = into.data();
  for (std::uint64_t n = neurons.begin; n < neurons.end; n += 2, to += kPairBytes) {
    const Parameters made = parameters_of(layer, n, neurons.end);
    std::memcpy(to, &made, sizeof made);
  }
}

void fill_streams(const Layer& layer, Interval neurons, std::span<std::byte> into) {
  const std::uint64_t pairs = ceil_div<std::uint64_t>(neurons.size(), 2);
  const std::uint32_t values = stream_values(layer.kind);
  for (std::uint64_t pair = 0; pair < pairs; ++pair) {
    const Parameters made = parameters_of(layer, neurons.begin + 2 * pair, neurons.end);
    // Spikes must be above both thresholds: one comparison then finds all listed neurons.
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

/// Networks made from options, with seeded weights or those of files.

Network make_network(const Options& options, std::uint32_t inputs, double events) {
  const bool of_file = !options.network.empty();
  Network network =
      of_file ? network_of_file(options, inputs) : network_of_options(options, inputs, events);
  if (!options.weights.empty()) read_weights(network, options.weights);
  require_sound(network, of_file ? "workload.network" : "workload.layers");
  return network;
}

}  // namespace tessera::snn
