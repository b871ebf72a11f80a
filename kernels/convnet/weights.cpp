#include "kernels/convnet/weights.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "sim/base/errors.h"
#include "sim/data/random.h"
#include "sim/data/weights_folder.h"

namespace tessera::convnet {

namespace {

constexpr unsigned kRandomBits = 23;
constexpr double kMostBias = 0.25;

/// Random streams; from kFirstLayer on each layer has two.
constexpr std::uint64_t kImage = 0;
constexpr std::uint64_t kFirstLayer = 2;

void set_integers(LayerWeights& made, const Layer& layer, const RealWeights& real) {
  double largest = 0;
  for (const float value : real.values) largest = std::max(largest, std::abs(double{value}));
  made.exponent = smallest_exponent(largest, layer.type);
  const std::size_t channels = layer.input.channels;
  const double scale = std::ldexp(1.0, -made.exponent);
  const float* value = real.values.data();
  for (std::size_t row = 0; row < real.values.size() / channels; ++row)
    for (std::size_t i = 0; i < channels; ++i, ++value)
      made.values[row * made.inputs + i] =
          static_cast<std::int16_t>(std::nearbyint(scale * double{*value}));
}

/// Sets weights and biases in bf16 and f32.
void set_floats(LayerWeights& made, const Layer& layer, const RealWeights& real) {
  const std::size_t channels = layer.input.channels;
  for (std::size_t i = 0; i < real.values.size(); ++i) {
    const float nearest = gemm::nearest_bf16(real.values[i]);
    if (!std::isfinite(nearest))
      throw UserError("layer '{}': found weight {:g}, allowed at most {:g} with dtype bf16",
                      layer.name, real.values[i], gemm::kLargestBf16);
    made.rounded += nearest != real.values[i] ? 1 : 0;
    made.values[i / channels * made.inputs + i % channels] = reference::bits_of_bf16(nearest);
  }
  for (std::size_t i = 0; i < real.bias.size(); ++i)
    made.bias[i] = std::bit_cast<std::uint32_t>(static_cast<float>(real.bias[i]));
}

/// Calls body(index of the first of 8 inputs) for each output and window place of a block.
template <class Body>
void for_block(const LayerWeights& weights, std::uint32_t output, std::uint32_t input,
               const Body& body) {
  for (std::uint32_t channel = output * kBlock; channel < (output + 1) * kBlock; ++channel)
    for (std::uint32_t row = 0; row < weights.height; ++row)
      for (std::uint32_t column = 0; column < weights.width; ++column)
        body(weights.index(channel, row, column, input * kBlock));
}

/// Squared L2 norms of a row of blocks.
std::vector<double> norms_of(const LayerWeights& weights, std::uint32_t output) {
  std::vector<double> norms(weights.input_blocks());
  for (std::uint32_t input = 0; input < norms.size(); ++input)
    for_block(weights, output, input, [&](std::size_t at) {
      for (std::size_t i = at; i < at + kBlock; ++i) {
        const double number = number_of(weights.type, weights.values[i]);
        norms[input] += number * number;
      }
    });
  return norms;
}

}  // namespace

RealWeights seeded_weights(const Layer& layer, std::uint32_t number, std::uint64_t seed) {
  const std::uint64_t stream = kFirstLayer + 2 * std::uint64_t{number};
  const double products =
      static_cast<double>(layer.weights()) / static_cast<double>(layer.output.channels);
  const auto bound = static_cast<float>(std::sqrt(6 / products));  // variance bound^2 / 3
  RealWeights real;
  real.values.resize(layer.weights());
  for (std::size_t i = 0; i < real.values.size(); ++i)
    real.values[i] = bound * data::random_signed(seed, stream, i, kRandomBits);
  real.bias.resize(layer.output.channels);
  for (std::size_t i = 0; i < real.bias.size(); ++i)
    real.bias[i] = kMostBias * data::random_signed(seed, stream + 1, i, kRandomBits);
  return real;
}

std::vector<RealWeights> real_weights(const Network& network, std::span<const RealWeights> given,
                                      std::uint64_t seed, HostThreads& threads) {
  if (!given.empty()) return {given.begin(), given.end()};
  std::vector<RealWeights> real(network.layers.size());
  threads.for_ranges(real.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      if (network.layers[i].has_weights())
        real[i] = seeded_weights(network.layers[i], static_cast<std::uint32_t>(i), seed);
  });
  return real;
}

int smallest_exponent(double largest, program::Type type) {
  const auto bits = static_cast<int>(bits_of(type));
  if (largest == 0) return 1 - bits;
  const auto most = static_cast<double>(largest_of(type));
  int exponent = std::ilogb(largest) + 1 - bits;
  while (std::nearbyint(std::ldexp(largest, -exponent)) > most) ++exponent;
  return exponent;
}

LayerWeights quantised_weights(const Layer& layer, const RealWeights& real) {
  check(real.values.size() == layer.weights() && real.bias.size() == layer.output.channels,
        "convnet: {} weights and {} biases of layer {}, expected {} and {}", real.values.size(),
        real.bias.size(), layer.name, layer.weights(), layer.output.channels);
  LayerWeights made;
  made.type = layer.type;
  made.outputs = padded_channels(layer.output.channels);
  made.inputs = padded_channels(layer.input.channels);
  made.height = layer.window.height;
  made.width = layer.window.width;
  made.values.resize(std::size_t{made.outputs} * made.height * made.width * made.inputs);
  made.bias.resize(made.outputs);
  (layer.type == program::Type::bf16 ? set_floats : set_integers)(made, layer, real);
  std::vector<std::uint32_t> all(made.input_blocks());
  std::iota(all.begin(), all.end(), 0U);
  made.kept.assign(made.output_blocks(), all);
  return made;
}

std::uint32_t kept_blocks(std::uint32_t input_blocks, double sparsity) {
  constexpr double kRounding = 1e-9;  // so that 0.29 of 100 blocks is 29
  const auto pruned = static_cast<std::uint32_t>(sparsity * input_blocks + kRounding);
  return std::max(input_blocks - std::min(pruned, input_blocks), 1U);
}

void prune_blocks(LayerWeights& weights, double sparsity) {
  const std::uint32_t count = weights.input_blocks();
  const std::uint32_t pruned = count - kept_blocks(count, sparsity);
  for (std::uint32_t output = 0; output < weights.output_blocks(); ++output) {
    const std::vector<double> norms = norms_of(weights, output);
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t input) { return norms[input]; });
    for (std::uint32_t i = 0; i < pruned; ++i)
      for_block(weights, output, order[i], [&](std::size_t at) {
        std::fill_n(weights.values.begin() + static_cast<std::ptrdiff_t>(at), kBlock, 0);
      });
    weights.kept[output].assign(order.begin() + pruned, order.end());
    std::ranges::sort(weights.kept[output]);
  }
}

double sparsity_of(const Network& network, std::uint32_t number, double sparsity) {
  const Layer& layer = network.layers[number];
  if (sparsity == 0 || layer.op != Operator::convolution) return 0;
  if (layer.sparsity) return *layer.sparsity;
  return number == network.first_convolution() ? 0 : sparsity;
}

Image seeded_image(const Shape& shape, std::uint64_t seed, program::Type type) {
  Image image{{shape, std::vector<std::int16_t>(shape.elements())}, image_exponent(type)};
  const std::uint64_t numbers = std::uint64_t{1} << bits_of(type);
  for (std::size_t i = 0; i < image.tensor.values.size(); ++i) {
    const auto q = static_cast<std::int16_t>(
        static_cast<std::int64_t>(data::random_below(seed, kImage, i, numbers)) -
        static_cast<std::int64_t>(numbers / 2));
    image.tensor.values[i] =
        type == program::Type::bf16
            ? reference::bits_of_bf16(std::ldexp(static_cast<float>(q), image.exponent))
            : q;
  }
  return image;
}

Model make_model(Network network, std::span<const RealWeights> given, const Image& image,
                 std::uint64_t seed, double sparsity, HostThreads& threads) {
  Model model{std::move(network), {}, image.tensor};
  const std::vector<Layer>& layers = model.network.layers;
  const std::vector<RealWeights> real = real_weights(model.network, given, seed, threads);
  model.weights.resize(layers.size());
  threads.for_ranges(layers.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!layers[i].has_weights()) continue;
      model.weights[i] = quantised_weights(layers[i], real[i]);
      const double part = sparsity_of(model.network, static_cast<std::uint32_t>(i), sparsity);
      if (part > 0) prune_blocks(model.weights[i], part);
    }
  });
  if (layers.front().type != program::Type::bf16) calibrate(model, image.exponent, real, threads);
  return model;
}

std::vector<float> channels_last(std::span<const float> values, std::size_t inputs,
                                 std::size_t places) {
  std::vector<float> result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t place = i % places, input = i / places % inputs, output = i / places / inputs;
    result[(output * places + place) * inputs + input] = values[i];
  }
  return result;
}

std::vector<RealWeights> read_weights(const Network& network, const std::string& folder,
                                      const std::string& key) {
  constexpr auto kType = program::Type::f32;
  data::WeightsFolder files(folder, "", key);
  std::vector<RealWeights> weights(network.layers.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const Layer& layer = network.layers[i];
    if (!layer.has_weights()) continue;
    const Window& window = layer.window;
    const std::uint64_t outputs = layer.output.channels, inputs = layer.weight_channels();
    const std::vector<float> values =
        files.read(layer.name + ".weight", {outputs, inputs, window.height, window.width}, kType);
    weights[i].values = channels_last(values, inputs, std::size_t{window.height} * window.width);
    weights[i].bias.resize(outputs);
    const std::string bias = layer.name + ".bias";
    if (!std::filesystem::exists(files.path(bias))) continue;
    const std::vector<float> found = files.read(bias, {outputs}, kType);
    weights[i].bias.assign(found.begin(), found.end());
  }
  files.require_all_read();
  return weights;
}

}  // namespace tessera::convnet
