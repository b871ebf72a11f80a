#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/convnet/reference_window.h"
#include "sim/base/ranges.h"

/// What an int8 network stands for: its layers in real numbers, without any rounding or limits but
/// ReLU's.
namespace tessera::convnet {

struct RealTensor {
  Shape shape;
  std::vector<double> values;
};

/// q * 2^exponent of each element.
template <class Numbers>
std::vector<double> scaled(const Numbers& numbers, int exponent) {
  std::vector<double> values;
  for (const auto q : numbers) values.push_back(std::ldexp(q, exponent));
  return values;
}
inline RealTensor real_values(const Tensor& tensor, int exponent) {
  return {tensor.shape, scaled(tensor.values, exponent)};
}

/// `bias_exponent` is that of the bias of a convolution.
inline std::vector<double> real_layer(const Layer& layer, const LayerWeights& weights,
                                      int bias_exponent, std::span<const RealTensor* const> inputs,
                                      HostThreads& threads) {
  if (layer.op == Operator::concatenate)
    return reference::joined<double>(
        layer, mapped(inputs, [](const RealTensor* input) { return &input->values; }));
  const std::vector<double>& in = inputs[0]->values;
  std::vector<double> out(layer.output.elements());
  if (layer.op == Operator::add) {
    std::ranges::transform(in, inputs[1]->values, out.begin(), std::plus());
  } else if (layer.op == Operator::max_pool) {
    reference::take_window_maxima<double>(layer, in, out, threads);
  } else if (layer.op == Operator::average_pool) {
    reference::add_window_sums<double, double>(layer, in, out, threads);
    for (double& value : out) value /= double(layer.window.height) * layer.window.width;
  } else {
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = std::ldexp(weights.bias[i % layer.output.channels], bias_exponent);
    const std::vector<double> values = scaled(weights.values, weights.exponent);
    reference::add_products<double, double>(layer, weights, values, in, out, threads);
  }
  if (layer.relu)
    for (double& value : out) value = std::max(value, 0.0);
  return out;
}

/// All tensors of the network, in the order of its layers; the first is the image.
inline std::vector<RealTensor> forward_real(const Network& network,
                                            std::span<const LayerWeights> weights,
                                            const RealTensor& image, HostThreads& threads) {
  std::vector<RealTensor> tensors = {image};
  for (std::size_t i = 1; i < network.layers.size(); ++i) {
    const Layer& layer = network.layers[i];
    std::vector<const RealTensor*> inputs;
    for (const std::uint32_t from : layer.inputs) inputs.push_back(&tensors[from]);
    const int exponent = weights[i].exponent + network.layers[layer.inputs[0]].exponent;
    tensors.push_back({layer.output, real_layer(layer, weights[i], exponent, inputs, threads)});
  }
  return tensors;
}

}  // namespace tessera::convnet
