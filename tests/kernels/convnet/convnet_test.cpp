#include <doctest/doctest.h>

#include "sim/base/splitmix.h"
#include "tests/kernels/convnet/arrays.h"
#include "tests/kernels/right.h"

using namespace tessera;
using namespace tessera::convnet;

TEST_SUITE("run") {
  TEST_CASE("resnet50, half of it pruned, gives the same tensors on every host") {
    HostThreads threads(2);
    const Model model = model_of(options_of("resnet50", 0.5), 2);
    const auto tensors = forward(model.network, model.weights, model.image, threads);
    std::uint64_t sum = 0;
    for (const Tensor& tensor : tensors)
      for (const std::int16_t value : tensor.values)
        sum = splitmix64(sum, static_cast<std::uint8_t>(value));
    CHECK(tensors.back().shape == Shape{1, 1, 2048});
    CHECK(sum == 14849676189182849686U);
    for (std::size_t i = 1; i < model.weights.size(); ++i) {
      const LayerWeights& weights = model.weights[i];
      const std::uint32_t part = i == 1 ? 1 : 2;
      for (const auto& row : weights.kept) CHECK(row.size() * part == weights.input_blocks());
    }
  }
}
