#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/convnet/tiles/program.h"
#include "sim/base/errors.h"
#include "sim/data/element.h"

namespace tessera::convnet::tiles {

using program::Type;

FloatModel float_model(Network network, std::span<const RealWeights> given, const Image& image,
                       std::uint64_t seed, HostThreads& threads) {
  FloatModel model{std::move(network), {}, {}};
  const std::vector<Layer>& layers = model.network.layers;
  model.weights = real_weights(model.network, given, seed, threads);
  std::vector<std::uint64_t> rounded(layers.size());
  threads.for_ranges(layers.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!layers[i].has_weights()) continue;
      RealWeights& real = model.weights[i];
      for (float& value : real.values) {
        const double exact = double{value};
        value = static_cast<float>(data::rounded(Type::f16, exact));
        rounded[i] += double{value} != exact ? 1 : 0;
        if (std::isinf(value))
          throw UserError("layer '{}': found weight {}, allowed at most {} with dtype f16",
                          layers[i].name, exact, data::largest_finite(Type::f16));
      }
      for (double& bias : real.bias) bias = static_cast<float>(bias);
    }
  });
  for (const std::uint64_t count : rounded) model.rounded += count;
  model.image.reserve(image.tensor.values.size());
  for (const std::int16_t q : image.tensor.values)
    model.image.push_back(std::ldexp(static_cast<float>(q), image.exponent));
  return model;
}

void fill_weights(const FloatModel& model, const Geometry& g, const Cell& cell,
                  std::span<std::byte> into) {
  const BlockShape& block = g.block();
  const Layer& layer = model.network.layers[g.shape().weighted];
  const std::vector<float>& values = model.weights[g.shape().weighted].values;
  const Geometry::Slots slots = g.slots(cell);
  const std::uint64_t taps = g.shape().taps(), steps = g.steps(cell);
  // Inputs per window place; if unfolded, per row of places.
  const std::uint64_t inputs =
      std::uint64_t{layer.weight_channels()} * (g.shape().unfolded ? layer.window.width : 1);
  const auto weight = [&](std::uint64_t output, std::uint64_t tap, std::uint64_t input) {
    const bool exists = output < layer.output.channels && input < inputs;
    return exists ? values[(output * taps + tap) * inputs + input] : 0;
  };
  const bool depthwise = layer.op == Operator::depthwise_convolution;
  // Steps after the dense ones have weights on the diagonal.
  const std::uint64_t dense = g.shape().kind == Kind::sums ? slots.size() * taps : 0;
  const std::uint64_t first = g.groups(cell).begin * g.blocks_of_group() * block.columns;
  std::fill(into.begin(), into.end(), std::byte{});
  for (std::uint64_t b = 0; b < g.blocks(cell); ++b)
    for (std::uint64_t step = 0; step < steps; ++step) {
      const std::uint64_t at = (b * steps + step) * block.depth * block.columns;
      const std::uint64_t output = first + b * block.columns;
      if (step < dense) {
        const std::uint64_t input = (slots.chunks.begin + step / taps) * block.depth;
        for (std::uint64_t j = 0; j < block.columns; ++j)
          for (std::uint64_t i = 0; i < block.depth; ++i)
            data::store_element(Type::f16, into, at + i * block.columns + j,
                                weight(output + j, step % taps, input + i));
        continue;
      }
      // Steps per chunk of the column block.
      const std::uint64_t a_chunk = dense > 0 ? 1 : taps * slots.operands;
      const std::uint64_t input =
          output / block.depth * block.depth + (step - dense) / a_chunk * block.depth;
      for (std::uint64_t j = 0; j < block.columns; ++j)
        if (output + j >= input && output + j < input + block.depth)
          data::store_element(Type::f16, into, at + (output + j - input) * block.columns + j,
                              depthwise ? weight(output + j, step % taps, 0) : 1);
    }
}

void fill_bias(const FloatModel& model, const Geometry& g, const Cell& cell,
               std::span<std::byte> into) {
  const std::vector<double>& bias = model.weights[g.shape().weighted].bias;
  std::fill(into.begin(), into.end(), std::byte{});
  const std::uint64_t first = g.share(cell).begin * group_channels(g.block());
  for (std::uint64_t i = 0; i < into.size() / 4 && first + i < bias.size(); ++i)
    data::store_element(Type::f32, into, i, bias[first + i]);
}

void fill_image(const FloatModel& model, const Geometry& g, const Cell& cell,
                std::span<std::byte> into) {
  const LayerShape& s = g.shape();
  const Geometry::Slots slots = g.slots(cell);
  const Planes planes = g.x(cell);
  const std::uint32_t channels = s.input.channels;
  const double around =
      s.kind == Kind::maxima ? -std::numeric_limits<double>::infinity() : 0;  // never the largest
  for (std::uint64_t at = 0; at < into.size() / 2; ++at) {
    data::store_element(Type::f16, into, at, 0);
    std::uint64_t rest = at;
    const auto next = [&](std::uint64_t extent) {
      const std::uint64_t digit = rest % extent;
      rest /= extent;
      return digit;
    };
    const std::uint64_t in_chunk = next(g.block().depth);
    const std::uint64_t column = g.columns(cell).begin + next(planes.pitch);
    const std::uint64_t row = g.rows(cell).begin + next(planes.height());
    const std::uint64_t plane_column = next(planes.plane_columns());
    const std::uint64_t plane_row = next(planes.plane_rows());
    const std::uint64_t slot = slots.chunks.begin + rest % slots.chunks.size();
    std::uint64_t channel = slot * g.block().depth + in_chunk;
    auto x = static_cast<std::int64_t>(column * s.window.stride_width + plane_column);
    x -= s.unfolded ? s.unfolded_left : s.window.left;
    if (s.unfolded) {
      x += static_cast<std::int64_t>(channel / channels);
      if (channel / channels >= s.unfolded_columns) continue;
      channel %= channels;
    }
    const auto y =
        static_cast<std::int64_t>(row * s.window.stride_height + plane_row) - s.window.top;
    if (channel >= channels) continue;  // stays 0: its weights are 0
    if (x < 0 || y < 0 || x >= s.input.width || y >= s.input.height) {
      data::store_element(Type::f16, into, at, around);
      continue;
    }
    const auto index =
        (static_cast<std::uint64_t>(y) * s.input.width + static_cast<std::uint64_t>(x)) * channels +
        channel;
    data::store_element(Type::f16, into, at, model.image[index]);
  }
}

}  // namespace tessera::convnet::tiles
