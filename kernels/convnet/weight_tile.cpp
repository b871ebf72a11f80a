#include "kernels/convnet/weight_tile.h"

#include <cstring>

#include "kernels/convnet/calls.h"
#include "sim/base/errors.h"

namespace tessera::convnet {
namespace {

/// Weights of one output and one input block at a tap.
void write_block(const LayerWeights& weights, std::uint32_t output, std::uint32_t input,
                 std::uint32_t row, std::uint32_t column, std::byte* into) {
  for (std::uint32_t i = 0; i < kBlock; ++i)
    for (std::uint32_t o = 0; o < kBlock; ++o)
      into[i * kBlock + o] = static_cast<std::byte>(
          weights.values[weights.index(output * kBlock + o, row, column, input * kBlock + i)]);
}

}  // namespace

TileParts tile_parts(const LayerShape& shape) {
  const std::uint32_t steps = shape.kept_of_part() * shape.taps();
  const std::uint32_t bias = shape.mapping.group * steps * kWeightBlockBytes;
  return {bias, bias + shape.mapping.group * kBiasBlockBytes};
}

std::vector<std::int8_t> addition_weights(const Layer& addition, std::uint32_t first) {
  std::array<std::int8_t, 2> factors{};
  for (std::uint32_t tap = 0; tap < factors.size(); ++tap)
    factors[tap] = static_cast<std::int8_t>(1U << addition.left_shifts[first ^ tap]);
  return shared_weights(factors);
}

void write_tile(const Plan& plan, const WeightTile& tile, std::span<std::byte> into) {
  const Layer& layer = plan.network->layers[tile.layer];
  std::ranges::fill(into, std::byte{});
  if (layer.op == Operator::add) {
    std::memcpy(into.data(), addition_weights(layer).data(), into.size());
    return;
  }
  if (layer.op == Operator::average_pool) {
    const std::vector<std::int8_t> factors(shape_of(plan, tile.layer).taps(),
                                           static_cast<std::int8_t>(layer.multiplier));
    std::memcpy(into.data(), shared_weights(factors).data(), into.size());
    return;
  }
  check(layer.op == Operator::convolution, "convnet: weights of {}", layer.name);
  const LayerShape shape = shape_of(plan, tile.layer);
  const LayerWeights& weights = *(*plan.weights)[tile.layer];
  const TileParts parts = tile_parts(shape);
  const std::uint32_t kept = shape.kept_of_part();
  std::byte* at = into.data();
  for (std::uint32_t block = tile.first; block < tile.end; ++block) {
    const std::uint32_t number = block - tile.first;
    for (std::uint32_t i = 0; i < kept; ++i) {
      const std::uint32_t input = weights.kept[block][tile.part * kept + i];
      for (std::uint32_t row = 0; row < weights.height; ++row)
        for (std::uint32_t column = 0; column < weights.width; ++column, at += kWeightBlockBytes)
          write_block(weights, block, input, row, column, at);
      const auto word = static_cast<std::uint16_t>(input);
      std::memcpy(into.data() + parts.kept + (number * kept + i) * sizeof word, &word, sizeof word);
    }
    const std::span bias = std::span(weights.bias).subspan(std::size_t{block} * kBlock, kBlock);
    std::memcpy(into.data() + parts.bias + number * bias.size_bytes(), bias.data(),
                bias.size_bytes());
  }
}

void write_blocked(const Tensor& tensor, std::span<std::byte> into) {
  const Shape& shape = tensor.shape;
  std::ranges::fill(into, std::byte{});
  for (std::uint32_t row = 0; row < shape.height; ++row)
    for (std::uint32_t column = 0; column < shape.width; ++column)
      for (std::uint32_t channel = 0; channel < shape.channels; ++channel)
        into[((std::size_t{channel / kBlock} * shape.height + row) * shape.width + column) *
                 kBlock +
             channel % kBlock] =
            static_cast<std::byte>(
                tensor
                    .values[(std::size_t{row} * shape.width + column) * shape.channels + channel]);
}

}  // namespace tessera::convnet
