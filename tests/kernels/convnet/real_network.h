#pragma once

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/convnet/reference_window.h"
#include "sim/base/ranges.h"

/// What a network of its type stands for: its layers in real numbers, without any rounding or
/// limits but ReLU's.
namespace tessera::convnet {

/// Values of a tensor.
using RealTensor = std::vector<double>;

/// q * 2^exponent of each number, of bf16 the number.
inline RealTensor scaled(const std::vector<std::int16_t>& numbers, int exponent,
                         program::Type type = program::Type::i8) {
  return mapped(numbers, [&](std::int16_t q) { return std::ldexp(number_of(type, q), exponent); });
}

/// `bias_exponent` is that of the bias of a convolution.
inline RealTensor real_layer(const Layer& layer, const LayerWeights& weights, int bias_exponent,
                             std::span<const RealTensor* const> inputs, HostThreads& threads) {
  if (layer.op == Operator::concatenate) return reference::joined<double>(layer, inputs);
  const RealTensor& in = *inputs[0];
  RealTensor out(layer.output.elements());
  if (layer.op == Operator::add) {
    std::ranges::transform(in, *inputs[1], out.begin(), std::plus());
  } else if (layer.op == Operator::max_pool) {
    reference::take_window_maxima<double>(layer, in, out, threads);
  } else if (layer.op == Operator::average_pool) {
    reference::add_window_sums<double, double>(layer, in, out, threads);
    for (double& value : out) value /= double(layer.window.height) * layer.window.width;
  } else {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::int64_t bias = weights.bias[i % layer.output.channels];
      out[i] = weights.type == program::Type::bf16
                   ? double{std::bit_cast<float>(static_cast<std::uint32_t>(bias))}
                   : std::ldexp(static_cast<double>(bias), bias_exponent);
    }
    const RealTensor values = scaled(weights.values, weights.exponent, weights.type);
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
    const auto inputs =
        mapped(layer.inputs, [&](std::uint32_t from) { return &std::as_const(tensors[from]); });
    const int exponent = weights[i].exponent + network.layers[layer.inputs[0]].exponent;
    tensors.push_back(real_layer(layer, weights[i], exponent, inputs, threads));
  }
  return tensors;
}

}  // namespace tessera::convnet
