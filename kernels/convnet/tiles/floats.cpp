#include "kernels/convnet/tiles/floats.h"

#include <cmath>

#include "sim/base/errors.h"
#include "sim/data/element.h"

namespace tessera::convnet::tiles {

using program::Type;

FloatModel float_model(Network network, std::span<const RealWeights> given, const Image& image,
                       std::uint64_t seed, HostThreads& threads) {
  FloatModel model{std::move(network), {}, {}};
  const std::vector<Layer>& layers = model.network.layers;
  model.weights.resize(layers.size());
  std::vector<std::uint64_t> rounded(layers.size());
  threads.for_ranges(layers.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!layers[i].has_weights()) continue;
      RealWeights real =
          given.empty() ? seeded_weights(layers[i], static_cast<std::uint32_t>(i), seed) : given[i];
      for (float& value : real.values) {
        const double exact = double{value};
        value = static_cast<float>(data::rounded(Type::f16, exact));
        rounded[i] += double{value} != exact ? 1 : 0;
        if (std::isinf(value))
          throw UserError(
              fmt::format("layer '{}': found weight {}, allowed at most {} with dtype f16",
                          layers[i].name, exact, data::largest_finite(Type::f16)));
      }
      model.weights[i] = {std::move(real.values), {real.bias.begin(), real.bias.end()}};
    }
  });
  for (const std::uint64_t count : rounded) model.rounded += count;
  model.image.reserve(image.tensor.values.size());
  for (const std::int8_t q : image.tensor.values)
    model.image.push_back(std::ldexp(static_cast<float>(q), image.exponent));
  return model;
}

}  // namespace tessera::convnet::tiles
