#include <doctest/doctest.h>

#include "sim/base/splitmix.h"
#include "tests/cli/command.h"
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

  TEST_CASE("a layer whose values bf16 does not hold is named, and the check fails") {
    const std::string weights = test::numpy_filled({12, 12, 1, 1}, 1e30F);
    const test::CommandFolder folder{
        {"a.json", R"({"machine": "xdna1", "workload": {"kernel": "convnet", "network": "n.json",
                       "dtype": "bf16", "weights": "w"}})"},
        {"n.json", R"({"layers": {"image": {"op": "input", "shape": [3, 5, 12]},
                       "a": {"op": "convolution", "channels": 12},
                       "b": {"op": "convolution", "channels": 12},
                       "c": {"op": "convolution", "channels": 12}}})"},
        {"w/a.weight.npy", weights},
        {"w/b.weight.npy", weights},
        {"w/c.weight.npy", weights}};
    const test::Answer answer = folder.call("run a.json --out result");
    CHECK(answer.code == 1);
    CHECK(answer.err.find("layer 'b' overflows: the largest bf16 is 3.38953e+38") !=
          std::string::npos);
  }
}
