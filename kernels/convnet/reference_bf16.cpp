#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

#include "kernels/convnet/reference.h"
#include "kernels/convnet/reference_window.h"
#include "sim/base/ranges.h"

namespace tessera::convnet::reference {
namespace {

using Floats = std::vector<float>;
constexpr std::uint32_t kBits = 16;  // bits of a bf16

/// Weights of a convolution, [block of outputs][kept block][place][input][output].
Floats in_order(const LayerWeights& weights) {
  const Floats numbers = numbers_of(weights.values);
  Floats ordered;
  for (std::uint32_t block = 0; block < weights.output_blocks(); ++block)
    for (const std::uint32_t kept : weights.kept[block])
      for (std::uint32_t row = 0; row < weights.height; ++row)
        for (std::uint32_t column = 0; column < weights.width; ++column)
          for (std::uint32_t i = 0; i < kBlock; ++i)
            for (std::uint32_t o = 0; o < kBlock; ++o)
              ordered.push_back(
                  numbers[weights.index(block * kBlock + o, row, column, kept * kBlock + i)]);
  return ordered;
}

float bias_of(const LayerWeights& weights, std::size_t output) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(weights.bias[output]));
}

/// Inputs with channels padded to whole blocks.
Floats padded(const Shape& shape, const Floats& in) {
  const std::size_t channels = shape.channels, all = padded_channels(shape.channels);
  Floats out(in.size() / channels * all);
  for (std::size_t i = 0; i < in.size(); ++i) out[i / channels * all + i % channels] = in[i];
  return out;
}

void convolve(const Layer& layer, const LayerWeights& weights, const Floats& given, Floats& sums,
              HostThreads& threads) {
  const Floats ordered = in_order(weights);
  const std::size_t channels = padded_channels(layer.input.channels);
  const Floats in = padded(layer.input, given);
  const std::size_t places = std::size_t{weights.height} * weights.width;
  for_places(layer, threads, [&](std::uint32_t y, std::uint32_t x, std::size_t out) {
    const float* block_weights = ordered.data();
    for (std::uint32_t block = 0; block < weights.output_blocks(); ++block) {
      std::array<float, kBlock> sum;
      for (std::uint32_t o = 0; o < kBlock; ++o) sum[o] = bias_of(weights, block * kBlock + o);
      for (const std::uint32_t kept : weights.kept[block]) {
        for_window(layer, y, x, [&](std::uint32_t row, std::uint32_t column, std::size_t from) {
          const float* const inputs =
              &in[from / layer.input.channels * channels + std::size_t{kept} * kBlock];
          const float* w =
              block_weights + (std::size_t{row} * weights.width + column) * kBlock * kBlock;
          for (std::uint32_t i = 0; i < kBlock; ++i, w += kBlock)
            for (std::uint32_t o = 0; o < kBlock; ++o) sum[o] += inputs[i] * w[o];
        });
        block_weights += places * kBlock * kBlock;
      }
      const std::uint32_t first = block * kBlock;
      for (std::uint32_t o = 0; first + o < std::min(first + kBlock, layer.output.channels); ++o)
        sums[out + first + o] = sum[o];
    }
  });
}

void add_means(const Layer& layer, const Floats& in, Floats& sums, HostThreads& threads) {
  const float factor = mean_factor(layer);
  Floats scaled = in;
  for (float& number : scaled) number *= factor;
  add_window_sums(layer, scaled, sums, threads);
}

}  // namespace

std::vector<float> numbers_of(std::span<const std::int16_t> bits) {
  return mapped(bits, [](std::int16_t each) {
    return std::bit_cast<float>(std::uint32_t{static_cast<std::uint16_t>(each)} << kBits);
  });
}

std::int16_t bits_of_bf16(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(gemm::nearest_bf16(number));
  return static_cast<std::int16_t>(bits >> kBits);
}

bool are_finite(std::span<const std::int16_t> bits) {
  constexpr std::int16_t kExponent = 0x7f80;  // all set: infinity or NaN
  return std::ranges::none_of(bits,
                              [](std::int16_t each) { return (each & kExponent) == kExponent; });
}

Tensor forward_bf16(const Layer& layer, const LayerWeights* weights,
                    std::span<const Tensor* const> inputs, HostThreads& threads) {
  const Floats in = numbers_of(inputs[0]->values);
  Floats sums(layer.output.elements());
  if (layer.op == Operator::max_pool) {
    take_window_maxima(layer, in, sums, threads);
  } else if (layer.op == Operator::average_pool) {
    add_means(layer, in, sums, threads);
  } else if (layer.op == Operator::add) {
    const Floats other = numbers_of(inputs[1]->values);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = in[i] + other[i];
  } else {
    convolve(layer, *weights, in, sums, threads);
  }
  Tensor out{layer.output, std::vector<std::int16_t>(sums.size())};
  constexpr std::size_t kGrain = 65536;
  threads.for_ranges(sums.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      out.values[i] = bits_of_bf16(layer.relu ? std::max(sums[i], 0.0F) : sums[i]);
  });
  return out;
}

}  // namespace tessera::convnet::reference
