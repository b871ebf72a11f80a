#include <doctest/doctest.h>

#include "kernels/convnet/network_file.h"
#include "kernels/convnet/network_image.h"
#include "sim/base/splitmix.h"

using namespace tessera;

TEST_SUITE("run") {
  TEST_CASE("resnet50, half of it pruned, gives the same tensors on every host") {
    HostThreads threads(2);
    const convnet::Network network = convnet::load_network("resnet50", "workload.network");
    const convnet::Image image = convnet::network_image(network, "", 1, "workload.image");
    const convnet::Model model = convnet::make_model(network, {}, image, 1, 0.5, threads);
    const auto tensors = convnet::forward(model.network, model.weights, model.image, threads);
    std::uint64_t sum = 0;
    for (const convnet::Tensor& tensor : tensors)
      for (const std::int8_t value : tensor.values)
        sum = splitmix64(sum, static_cast<std::uint8_t>(value));
    CHECK(tensors.back().shape == convnet::Shape{1, 1, 2048});
    CHECK(sum == 14849676189182849686U);
    for (std::size_t i = 1; i < model.weights.size(); ++i) {
      const convnet::LayerWeights& weights = model.weights[i];
      const std::uint32_t part = i == 1 ? 1 : 2;
      for (const auto& row : weights.kept) CHECK(row.size() * part == weights.input_blocks());
    }
  }
}
