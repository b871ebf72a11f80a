#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/fields.h"

/// A spiking network as a plain value: what options make, what files of networks are read into, and
/// what the program and its reference are made from.
namespace tessera::snn {

/// How a neuron's state follows its input I, the sum of the weights of the spikes that it receives
/// (and its bias). u is the state of the step before; a neuron spikes where the new one is above
/// its threshold.
///   lif         u' = (u > threshold ? 0 : alpha u) + gain I
///   cuba_lif    i' = beta i + I, u' = (u > threshold ? 0 : alpha u) + gain i'
///   adaptive    a' = rho a + (1 - rho) s, s the spike of the step before;
///               lif whose spikes and resets are those of u - strength a > threshold
///   integrator  u' = alpha u + gain I, never spikes: a read-out
enum class NeuronKind : std::uint8_t { lif, cuba_lif, adaptive, integrator };
inline constexpr config::Names<NeuronKind, 4> kNeuronKinds{
    {{"lif", NeuronKind::lif},
     {"cuba_lif", NeuronKind::cuba_lif},
     {"adaptive", NeuronKind::adaptive},
     {"integrator", NeuronKind::integrator}}};

/// State values of a neuron.
constexpr std::uint32_t states_of(NeuronKind kind) {
  return kind == NeuronKind::cuba_lif || kind == NeuronKind::adaptive ? 2 : 1;
}

/// A layer; lists hold a value a neuron, those of a kind that the layer is not may be empty.
struct Layer {
  NeuronKind kind = NeuronKind::lif;
  std::uint32_t inputs = 0;
  std::uint32_t neurons = 0;
  std::vector<float> weights;            ///< [input][neuron]
  std::vector<float> recurrent_weights;  ///< [from][to] within the layer; empty: none
  std::vector<float> bias;               ///< empty: none; not trained
  std::vector<float> alpha;
  std::vector<float> gain;  ///< what I is multiplied by, 1 - alpha as published
  std::vector<float> threshold;
  std::vector<float> second_threshold;  ///< from here on a neuron carries gradient
  std::vector<float> beta;              ///< of cuba_lif
  std::vector<float> rho, strength;     ///< of adaptive

  [[nodiscard]] bool recurrent() const { return !recurrent_weights.empty(); }
  /// Rows of weights: inputs, then the layer's own neurons if it is recurrent.
  [[nodiscard]] std::uint32_t rows() const { return inputs + (recurrent() ? neurons : 0); }
  /// Those of a row, from one neuron's on.
  [[nodiscard]] const float* weights_from(std::uint32_t row, std::uint32_t neuron) const {
    return row < inputs ? &weights[std::size_t{row} * neurons + neuron]
                        : &recurrent_weights[std::size_t{row - inputs} * neurons + neuron];
  }
  [[nodiscard]] float weight(std::uint32_t row, std::uint32_t neuron) const {
    return *weights_from(row, neuron);
  }
};

/// Layers in order: each takes the spikes of the one before it, one time step later.
struct Network {
  std::vector<Layer> layers;

  [[nodiscard]] std::uint32_t inputs() const { return layers.front().inputs; }
  [[nodiscard]] std::uint32_t outputs() const { return layers.back().neurons; }
  [[nodiscard]] std::uint64_t neurons() const;
  [[nodiscard]] std::uint64_t parameters() const;  ///< weights, recurrent ones too
};

/// The layers with these neurons of each alone. They take the spikes of all, so layers do not
/// follow on each other.
Network only(const Network& network, const std::vector<std::vector<std::uint32_t>>& neurons);

/// Refuses a network in which a list has not the size that it must have, layers do not follow on
/// each other, or a value is no finite number (thresholds may be infinite): a KeyError at `key`
/// that names layer and list.
void require_sound(const Network& network, const std::string& key);

}  // namespace tessera::snn
