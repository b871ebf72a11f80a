#include <filesystem>

#include "kernels/convnet/weights.h"
#include "sim/data/weights_folder.h"

namespace tessera::convnet {

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
