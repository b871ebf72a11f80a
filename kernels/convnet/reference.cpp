#include "kernels/convnet/reference.h"

#include <algorithm>
#include <cmath>

#include "kernels/convnet/reference_window.h"
#include "sim/base/errors.h"

namespace tessera::convnet {

namespace {

Tensor empty_like(const Layer& layer) {
  return {layer.output, std::vector<std::int8_t>(layer.output.elements())};
}

/// a * 2^left_shifts[0] + b * 2^left_shifts[1]
Sums added(const Layer& layer, const Tensor& a, const Tensor& b) {
  Sums sums{layer.output, std::vector<std::int32_t>(layer.output.elements())};
  for (std::size_t i = 0; i < sums.values.size(); ++i)
    sums.values[i] =
        a.values[i] * (1 << layer.left_shifts[0]) + b.values[i] * (1 << layer.left_shifts[1]);
  return sums;
}

/// multiplier * sum over the window
Sums averaged(const Layer& layer, const Tensor& in, HostThreads& threads) {
  Sums sums{layer.output, std::vector<std::int32_t>(layer.output.elements())};
  reference::add_window_sums<std::int8_t, std::int32_t>(layer, in.values, sums.values, threads);
  for (std::int32_t& sum : sums.values) sum *= static_cast<std::int32_t>(layer.multiplier);
  return sums;
}

template <class Value>
struct Joined {
  Shape shape;
  const std::vector<Value>* values;
};

template <class Value>
std::vector<Value> concatenated(const Shape& output, std::span<const Joined<Value>> parts) {
  std::vector<Value> values;
  values.reserve(output.elements());
  for (std::size_t place = 0; place < std::size_t{output.height} * output.width; ++place)
    for (const Joined<Value>& part : parts) {
      const auto from = part.values->begin() + static_cast<std::ptrdiff_t>(place) *
                                                   static_cast<std::ptrdiff_t>(part.shape.channels);
      values.insert(values.end(), from, from + part.shape.channels);
    }
  return values;
}

Tensor joined(const Layer& layer, std::span<const Tensor* const> inputs) {
  std::vector<Joined<std::int8_t>> parts;
  for (const Tensor* input : inputs) parts.push_back({input->shape, &input->values});
  return {layer.output, concatenated<std::int8_t>(layer.output, parts)};
}

std::vector<double> real_of(const LayerWeights& weights) {
  std::vector<double> values;
  values.reserve(weights.values.size());
  for (const std::int8_t q : weights.values) values.push_back(std::ldexp(q, weights.exponent));
  return values;
}

/// Output of a layer other than concatenations, in real numbers. `bias_exponent` is that of the
/// bias of a convolution.
void real_layer(const Layer& layer, const LayerWeights& weights, int bias_exponent,
                std::span<const RealTensor* const> inputs, RealTensor& out, HostThreads& threads) {
  const RealTensor& in = *inputs[0];
  if (layer.op == Operator::add) {
    for (std::size_t i = 0; i < out.values.size(); ++i)
      out.values[i] = in.values[i] + inputs[1]->values[i];
  } else if (layer.op == Operator::max_pool) {
    reference::take_window_maxima<double>(layer, in.values, out.values, threads);
  } else if (layer.op == Operator::average_pool) {
    reference::add_window_sums<double, double>(layer, in.values, out.values, threads);
    const double count = static_cast<double>(layer.window.height) * layer.window.width;
    for (double& value : out.values) value /= count;
  } else {
    for (std::size_t i = 0; i < out.values.size(); ++i)
      out.values[i] = std::ldexp(weights.bias[i % layer.output.channels], bias_exponent);
    const std::vector<double> values = real_of(weights);
    reference::add_products<double, double>(layer, weights, values, in.values, out.values, threads);
  }
  if (!layer.relu) return;
  for (double& value : out.values) value = std::max(value, 0.0);
}

}  // namespace

Sums sums_of(const Layer& layer, const LayerWeights* weights, std::span<const Tensor* const> inputs,
             HostThreads& threads) {
  if (layer.op == Operator::add) return added(layer, *inputs[0], *inputs[1]);
  if (layer.op == Operator::average_pool) return averaged(layer, *inputs[0], threads);
  check(layer.has_weights() && weights != nullptr, "convnet: layer {} has no sums", layer.name);
  Sums sums{layer.output, std::vector<std::int32_t>(layer.output.elements())};
  for (std::size_t i = 0; i < sums.values.size(); ++i)
    sums.values[i] = weights->bias[i % layer.output.channels];
  reference::add_products<std::int8_t, std::int32_t>(layer, *weights, weights->values,
                                                     inputs[0]->values, sums.values, threads);
  return sums;
}

Tensor forward(const Layer& layer, const LayerWeights* weights,
               std::span<const Tensor* const> inputs, HostThreads& threads) {
  if (layer.op == Operator::concatenate) return joined(layer, inputs);
  Tensor out = empty_like(layer);
  if (layer.op == Operator::max_pool) {
    reference::take_window_maxima<std::int8_t>(layer, inputs[0]->values, out.values, threads);
    return out;
  }
  const Sums sums = sums_of(layer, weights, inputs, threads);
  for (std::size_t i = 0; i < out.values.size(); ++i)
    out.values[i] = requantised(sums.values[i], layer.shift, layer.relu);
  return out;
}

std::vector<Tensor> forward(const Network& network, std::span<const LayerWeights> weights,
                            const Tensor& image, HostThreads& threads) {
  std::vector<Tensor> tensors = {image};
  for (std::size_t i = 1; i < network.layers.size(); ++i) {
    const Layer& layer = network.layers[i];
    std::vector<const Tensor*> inputs;
    for (const std::uint32_t from : layer.inputs) inputs.push_back(&tensors[from]);
    const LayerWeights* const own = layer.has_weights() ? &weights[i] : nullptr;
    tensors.push_back(forward(layer, own, inputs, threads));
  }
  return tensors;
}

std::vector<RealTensor> forward_real(const Network& network, std::span<const LayerWeights> weights,
                                     const RealTensor& image, HostThreads& threads) {
  std::vector<RealTensor> tensors = {image};
  for (std::size_t i = 1; i < network.layers.size(); ++i) {
    const Layer& layer = network.layers[i];
    std::vector<const RealTensor*> inputs;
    std::vector<Joined<double>> parts;
    for (const std::uint32_t from : layer.inputs) {
      inputs.push_back(&tensors[from]);
      parts.push_back({tensors[from].shape, &tensors[from].values});
    }
    RealTensor out{layer.output, std::vector<double>(layer.output.elements())};
    if (layer.op == Operator::concatenate) {
      out.values = concatenated<double>(layer.output, parts);
    } else {
      const int exponent = weights[i].exponent + network.layers[layer.inputs[0]].exponent;
      real_layer(layer, weights[i], exponent, inputs, out, threads);
    }
    tensors.push_back(std::move(out));
  }
  return tensors;
}

RealTensor real_values(const Tensor& tensor, int exponent) {
  RealTensor real{tensor.shape, {}};
  real.values.reserve(tensor.values.size());
  for (const std::int8_t q : tensor.values) real.values.push_back(std::ldexp(q, exponent));
  return real;
}

}  // namespace tessera::convnet
