#include <doctest/doctest.h>

#include "kernels/convnet/network_file.h"
#include "kernels/convnet/weights.h"
#include "sim/base/errors.h"
#include "sim/data/numpy_file.h"
#include "tests/cli/command.h"

using namespace tessera;

namespace {

/// An array of f32 that counts up.
std::string counting(const std::vector<std::uint64_t>& shape) {
  std::string text = data::numpy_header("<f4", shape);
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape) count *= extent;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto value = static_cast<float>(i);
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return text;
}
convnet::Network two_layers() {
  return convnet::parse_network(R"({"layers": {
    "image": {"op": "input", "shape": [5, 5, 3]},
    "a": {"op": "convolution", "channels": 4, "kernel": [2, 3]},
    "b": {"op": "depthwise_convolution", "kernel": 2}}})",
                                "mine", "mine.json");
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("weights of a folder are put channels last, a bias may be missing") {
    const test::CommandFolder folder{{"a.weight.npy", counting({4, 3, 2, 3})},
                                     {"a.bias.npy", counting({4})},
                                     {"b.weight.npy", counting({4, 1, 2, 2})}};
    const auto read = [&] {
      return convnet::read_weights(two_layers(), folder.path().string(), "workload.weights");
    };
    const std::vector<convnet::RealWeights> weights = read();
    REQUIRE(weights.size() == 3);
    // Output 2, row 1, column 2, input 1.
    CHECK(weights[1].values[((2 * 2 + 1) * 3 + 2) * 3 + 1] == ((2 * 3 + 1) * 2 + 1) * 3 + 2);
    CHECK(weights[1].bias == std::vector<double>{0, 1, 2, 3});
    CHECK(weights[2].values[5] == 5);
    CHECK(weights[2].bias == std::vector<double>(4, 0.0));

    folder.write("c.weight.npy", counting({1}));
    const std::string path = (folder.path() / "").string();
    CHECK_THROWS_WITH_AS(read(),
                         ("workload.weights: found " + path +
                          "c.weight.npy, which nothing of the network reads, allowed a.bias.npy, "
                          "a.weight.npy, b.weight.npy")
                             .c_str(),
                         KeyError);
    folder.write("b.weight.npy", counting({4, 4, 2, 2}));
    CHECK_THROWS_WITH_AS(read(),
                         ("workload.weights: found " + path +
                          "b.weight.npy of shape [4, 4, 2, 2], allowed [4, 1, 2, 2]")
                             .c_str(),
                         KeyError);
  }
}
