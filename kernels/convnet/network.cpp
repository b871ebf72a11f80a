#include "kernels/convnet/network.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/ranges.h"

namespace tessera::convnet {

std::string text_of(const Shape& shape) {
  return fmt::format("{}x{}x{}", shape.height, shape.width, shape.channels);
}

std::uint64_t Layer::weights() const {
  if (!has_weights()) return 0;
  return std::uint64_t{window.height} * window.width * weight_channels() * output.channels;
}

std::uint64_t Layer::macs() const {
  return std::uint64_t{output.height} * output.width * weights();
}

std::uint64_t Network::weights() const {
  std::uint64_t sum = 0;
  for (const Layer& layer : layers) sum += layer.weights();
  return sum;
}

std::uint64_t Network::macs() const {
  std::uint64_t sum = 0;
  for (const Layer& layer : layers) sum += layer.macs();
  return sum;
}

std::vector<std::uint32_t> Network::users(std::uint32_t number) const {
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < layers.size(); ++i)
    if (contains(layers[i].inputs, number)) found.push_back(i);
  return found;
}

bool Network::is_band(std::uint32_t number) const {
  return std::ranges::any_of(users(number),
                             [&](std::uint32_t user) { return layers[user].joins_rows; });
}

std::optional<std::uint32_t> Network::addition_of(std::uint32_t number) const {
  const std::vector<std::uint32_t> takers = users(number);
  if (layers[number].op != Operator::convolution || takers.size() != 1) return std::nullopt;
  const Layer& taker = layers[takers[0]];
  const bool alone = std::ranges::count(taker.inputs, number) == 1;
  const bool others_first =
      std::ranges::all_of(taker.inputs, [&](std::uint32_t input) { return input <= number; });
  if (taker.op != Operator::add || !alone || !others_first) return std::nullopt;
  return takers[0];
}

std::uint32_t Network::first_convolution() const {
  const auto first = std::ranges::find_if(layers, &Layer::has_weights);
  return static_cast<std::uint32_t>(first - layers.begin());
}

}  // namespace tessera::convnet
