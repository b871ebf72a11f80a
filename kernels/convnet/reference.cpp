#include "kernels/convnet/reference.h"

#include <utility>

#include "kernels/convnet/reference_window.h"
#include "sim/base/errors.h"
#include "sim/base/ranges.h"

namespace tessera::convnet {

namespace {

/// a * 2^left_shifts[0] + b * 2^left_shifts[1]
Sums added(const Layer& layer, const Tensor& a, const Tensor& b) {
  Sums sums(layer.output.elements());
  for (std::size_t i = 0; i < sums.size(); ++i)
    sums[i] = std::int64_t{a.values[i]} * (1 << layer.left_shifts[0]) +
              std::int64_t{b.values[i]} * (1 << layer.left_shifts[1]);
  return sums;
}

/// Sum of the products of `count` values: in blocks, for which hosts have instructions.
template <class Part>
Part dot(const std::int16_t* a, const std::int16_t* b, std::uint32_t count) {
  constexpr std::uint32_t kTogether = 32;
  Part sum = 0;
  for (; count >= kTogether; count -= kTogether, a += kTogether, b += kTogether)
    for (std::uint32_t i = 0; i < kTogether; ++i) sum += Part{a[i]} * b[i];
  for (std::uint32_t i = 0; i < count; ++i) sum += Part{a[i]} * b[i];
  return sum;
}

/// Adds the products of a convolution to `sums`, first summing those of each place in type `Part`.
template <class Part>
void add_products(const Layer& layer, const LayerWeights& weights,
                  const std::vector<std::int16_t>& in, Sums& sums, HostThreads& threads) {
  reference::for_places(layer, threads, [&](std::uint32_t y, std::uint32_t x, std::size_t out) {
    reference::for_window(
        layer, y, x, [&](std::uint32_t row, std::uint32_t column, std::size_t from) {
          for (std::uint32_t channel = 0; channel < layer.output.channels; ++channel)
            sums[out + channel] +=
                dot<Part>(&in[from], &weights.values[weights.index(channel, row, column, 0)],
                          layer.input.channels);
        });
  });
}

/// multiplier * sum over the window
Sums averaged(const Layer& layer, const Tensor& in, HostThreads& threads) {
  Sums sums(layer.output.elements());
  reference::add_window_sums(layer, in.values, sums, threads);
  for (std::int64_t& sum : sums) sum *= layer.multiplier;
  return sums;
}

}  // namespace

Sums sums_of(const Layer& layer, const LayerWeights* weights, std::span<const Tensor* const> inputs,
             HostThreads& threads) {
  if (layer.op == Operator::add) return added(layer, *inputs[0], *inputs[1]);
  if (layer.op == Operator::average_pool) return averaged(layer, *inputs[0], threads);
  check(layer.has_weights() && weights != nullptr, "convnet: layer {} has no sums", layer.name);
  Sums sums(layer.output.elements());
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = weights->bias[i % layer.output.channels];
  const auto add =
      layer.type == program::Type::i8 ? add_products<std::int32_t> : add_products<std::int64_t>;
  add(layer, *weights, inputs[0]->values, sums, threads);
  return sums;
}

Tensor requantised(const Layer& layer, const Sums& sums) {
  Tensor out{layer.output, {}};
  out.values.reserve(sums.size());
  for (const std::int64_t sum : sums)
    out.values.push_back(requantised(sum, layer.shift, layer.relu, layer.type));
  return out;
}

double number_of(program::Type type, std::int16_t value) {
  return gemm::number_of(*gemm::vector_type(type), reinterpret_cast<const std::byte*>(&value));
}

float mean_factor(const Layer& layer) {
  if (layer.type != program::Type::bf16) return static_cast<float>(layer.multiplier);
  return gemm::nearest_bf16(1.0F / static_cast<float>(layer.window.height * layer.window.width));
}

Tensor forward(const Layer& layer, const LayerWeights* weights,
               std::span<const Tensor* const> inputs, HostThreads& threads) {
  if (layer.op == Operator::concatenate) {
    const auto values =
        mapped(inputs, [](const Tensor* input) { return &std::as_const(input->values); });
    return {layer.output, reference::joined<std::int16_t>(layer, values)};
  }
  if (layer.type == program::Type::bf16)
    return reference::forward_bf16(layer, weights, inputs, threads);
  if (layer.op != Operator::max_pool)
    return requantised(layer, sums_of(layer, weights, inputs, threads));
  Tensor out{layer.output, std::vector<std::int16_t>(layer.output.elements())};
  reference::take_window_maxima(layer, inputs[0]->values, out.values, threads);
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

}  // namespace tessera::convnet
