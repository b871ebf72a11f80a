#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/config/fields.h"
#include "sim/data/nir_network.h"

/// A spiking network as a plain value, made from options or read from a file; program and reference
/// are made from it.
namespace tessera::snn {

/// How a neuron's state follows its input I, the sum of the weights of the spikes that it receives
/// (and its bias). u is the state of the step before; a neuron spikes where the new one is above
/// its threshold.
///   lif         u' = (u > threshold ? 0 : alpha u) + gain I
///   cuba_lif    i' = beta i + I, u' = (u > threshold ? 0 : alpha u) + gain i'
///   adaptive    a' = rho a + (1 - rho) s, s the spike of the step before;
///               lif that spikes and resets where u - strength a > threshold
///   integrator  u' = alpha u + gain I, never spikes: a read-out
enum class NeuronKind : std::uint8_t { lif, cuba_lif, adaptive, integrator };
inline constexpr config::Names<NeuronKind, 4> kNeuronKinds{
    {{"lif", NeuronKind::lif},
     {"cuba_lif", NeuronKind::cuba_lif},
     {"adaptive", NeuronKind::adaptive},
     {"integrator", NeuronKind::integrator}}};

/// Number of state values of a neuron.
constexpr std::uint32_t states_of(NeuronKind kind) {
  return kind == NeuronKind::cuba_lif || kind == NeuronKind::adaptive ? 2 : 1;
}

/// A layer. Lists hold one value per neuron; those that its kind does not use may be empty.
struct Layer {
  NeuronKind kind = NeuronKind::lif;
  std::uint32_t inputs = 0;
  std::uint32_t neurons = 0;
  std::vector<float> weights;            ///< [input][neuron]
  std::vector<float> recurrent_weights;  ///< [from][to] within the layer; empty: none
  std::vector<float> bias;               ///< empty: none; not trained
  std::vector<float> alpha;
  std::vector<float> gain;  ///< factor of I, 1 - alpha as published
  std::vector<float> threshold;
  std::vector<float> second_threshold;  ///< above it neurons carry gradient
  std::vector<float> beta;              ///< for cuba_lif
  std::vector<float> rho, strength;     ///< for adaptive

  [[nodiscard]] bool recurrent() const { return !recurrent_weights.empty(); }
  /// Rows of weights: inputs, then the layer's own neurons if it is recurrent.
  [[nodiscard]] std::uint32_t rows() const { return inputs + (recurrent() ? neurons : 0); }
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

/// Throws KeyError at `key`, naming layer and list, for a layer without inputs or neurons or a
/// value that is not finite (thresholds may be infinite).
void require_sound(const Network& network, const std::string& key);

/// The layers of a NIR network, whose equations are stepped by forward Euler in steps of
/// `seconds`: LIF and IF become lif, CubaLIF cuba_lif, whose voltage takes the current of the same
/// step, LI an integrator. Voltages are counted from
/// v_reset, so that resets go to 0; v_leak is a bias. Neurons carry gradient from 0.9 of the way to
/// their threshold on, as in arXiv 2311.04386. Throws UserError naming `file` and node for more
/// than 65,535 inputs or neurons, more than 2^28 weights, an LI that is not last or recurrent, a
/// layer with sources other than the layer before it and itself, a step longer than a time
/// constant, a CubaLIF whose v_leak is not its v_reset, an output that is not the last layer.
Network from_nir(const data::NirNetwork& nir, double seconds, const std::string& file);

/// A short text for users on how the equations are stepped.
std::string stepping(const Network& network, double seconds);

/// Throws KeyError if a matrix is not that of one Linear or Affine used once. Training would lose
/// the shared weights and zeros of convolutions and pooling, and the rank of products.
void require_trainable(const data::NirNetwork& nir, const std::string& file);

}  // namespace tessera::snn
