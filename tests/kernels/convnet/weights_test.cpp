#include "kernels/convnet/weights.h"

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "kernels/convnet/network_file.h"
#include "sim/base/ranges.h"
#include "sim/data/numpy_file.h"
#include "tests/cli/command.h"
#include "tests/refusal.h"

using namespace tessera;
using convnet::Layer;
using convnet::LayerWeights;
using convnet::Network;

namespace {

constexpr program::Type kByte = program::Type::i8;

Network network_of(const std::string& layers) {
  return convnet::parse_network("{\"layers\": {" + layers + "}}", "mine", "mine.json");
}
/// Two branches with different scales that are concatenated, and a residual connection.
Network branches() {
  return network_of(R"(
    "image": {"op": "input", "shape": [12, 11, 3]},
    "a": {"op": "convolution", "channels": 16, "kernel": 3, "pad": 1, "relu": true},
    "b": {"op": "convolution", "channels": 24, "from": "a"},
    "c": {"op": "max_pool", "kernel": 3, "pad": 1, "from": "a"},
    "d": {"op": "concatenate", "from": ["b", "c"]},
    "e": {"op": "convolution", "channels": 40, "kernel": [1, 3], "pad": [0, 1]},
    "f": {"op": "add", "from": ["e", "d"], "relu": true},
    "g": {"op": "convolution", "channels": 40, "kernel": 3, "stride": 2, "sparsity": 0},
    "h": {"op": "average_pool", "kernel": [5, 3]})");
}
convnet::Model model_of(Network network, double sparsity, program::Type type = kByte) {
  HostThreads threads(1);
  for (Layer& layer : network.layers) layer.type = type;
  convnet::Image image = convnet::seeded_image(network.layers[0].output, 1, kByte);
  for (std::int16_t& q : image.tensor.values)  // equal values in every type
    if (type != kByte)
      q = type == program::Type::bf16
              ? convnet::reference::bits_of_bf16(static_cast<float>(q) / 128)
              : static_cast<std::int16_t>(256 * q);
  image.exponent = convnet::image_exponent(type);
  return convnet::make_model(std::move(network), {}, image, 1, sparsity, threads);
}
std::int64_t norm(const LayerWeights& weights, std::uint32_t output, std::uint32_t input) {
  std::int64_t sum = 0;
  for (std::uint32_t i = 0; i < weights.values.size(); ++i) {
    const std::uint32_t row = i / weights.inputs / weights.width / weights.height;
    if (row / 8 == output && i % weights.inputs / 8 == input)
      sum += std::int64_t{weights.values[i]} * weights.values[i];
  }
  return sum;
}

/// A .npy file of f32 values 0, 1, 2, ...
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

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("an exponent is the smallest that holds a value in seven bits") {
    CHECK(convnet::smallest_exponent(1, kByte) == -6);
    CHECK(convnet::smallest_exponent(127, kByte) == 0);
    CHECK(convnet::smallest_exponent(127.4, kByte) == 0);
    CHECK(convnet::smallest_exponent(127.5, kByte) == 1);
    CHECK(convnet::smallest_exponent(0.99, kByte) == -7);
    CHECK(convnet::smallest_exponent(0.9961, kByte) == -6);
    CHECK(convnet::smallest_exponent(0, kByte) == -7);
    CHECK(convnet::smallest_exponent(1, program::Type::i16) == -14);
    CHECK(convnet::smallest_exponent(0.99999, program::Type::i16) == -14);
    CHECK(convnet::smallest_exponent(0.9999, program::Type::i16) == -15);
  }

  TEST_CASE("seeded weights are those of their seed and layer, and fill int8") {
    const Network network = branches();
    const auto one = convnet::seeded_weights(network.layers[1], 1, 5);
    CHECK(one.values.size() == 3 * 3 * 3 * 16);
    CHECK(one.values == convnet::seeded_weights(network.layers[1], 1, 5).values);
    CHECK(one.values != convnet::seeded_weights(network.layers[1], 1, 6).values);
    CHECK(one.values != convnet::seeded_weights(network.layers[1], 2, 5).values);
    CHECK(one.values[7] == doctest::Approx(0.466686).epsilon(1e-5));
    const LayerWeights weights = convnet::quantised_weights(network.layers[1], one);
    CHECK(weights.inputs == 8);
    CHECK(weights.outputs == 16);
    CHECK(weights.exponent == -8);
    CHECK(weights.values[weights.index(5, 1, 2, 2)] ==
          std::nearbyint(256 * one.values[((5 * 3 + 1) * 3 + 2) * 3 + 2]));
    CHECK(weights.values[weights.index(5, 1, 2, 3)] == 0);
    CHECK(weights.kept == std::vector<std::vector<std::uint32_t>>{{0}, {0}});
  }

  TEST_CASE("pruning keeps the blocks of the largest norms, as many in every row") {
    Layer layer = branches().layers[5];
    LayerWeights weights = convnet::quantised_weights(layer, convnet::seeded_weights(layer, 5, 1));
    const LayerWeights dense = weights;
    convnet::prune_blocks(weights, 0.5);
    for (std::uint32_t output = 0; output < 5; ++output) {
      REQUIRE(weights.kept[output].size() == 3);
      std::int64_t least_kept = INT64_MAX, most_pruned = 0;
      for (std::uint32_t input = 0; input < 5; ++input) {
        const bool kept = std::ranges::count(weights.kept[output], input) == 1;
        const std::int64_t before = norm(dense, output, input);
        CHECK(norm(weights, output, input) == (kept ? before : 0));
        if (kept) least_kept = std::min(least_kept, before);
        if (!kept) most_pruned = std::max(most_pruned, before);
      }
      CHECK(least_kept >= most_pruned);
    }
    CHECK(convnet::kept_blocks(8, 0.5) == 4);
    CHECK(convnet::kept_blocks(100, 0.29) == 71);
    CHECK(convnet::kept_blocks(1, 0.5) == 1);
    CHECK(convnet::kept_blocks(4, 1) == 1);
  }

  TEST_CASE("the first convolution stays dense, a layer's own sparsity goes first") {
    Network network = branches();
    network.layers[5].sparsity = 0.25;
    const auto parts = [&](double sparsity) {
      std::vector<double> found;
      for (std::uint32_t i = 0; i < network.layers.size(); ++i)
        found.push_back(convnet::sparsity_of(network, i, sparsity));
      return found;
    };
    CHECK(parts(0.5) == std::vector<double>{0, 0, 0.5, 0, 0, 0.25, 0, 0, 0});
    CHECK(parts(0) == std::vector<double>(9, 0.0));
    const convnet::Model model = model_of(network, 0.5);
    CHECK(model.weights[1].kept[0].size() == 1);
    CHECK(model.weights[2].kept[0].size() == 1);
    CHECK(model.weights[5].kept[0].size() == 4);
  }

  TEST_CASE("tensors of int8 and bf16 are near those of int16, sparse or not") {
    HostThreads threads(1);
    for (const double sparsity : {0.0, 0.5}) {
      const auto tensors_of = [&](program::Type type, int least) {
        const convnet::Model model = model_of(branches(), sparsity, type);
        std::vector<std::vector<double>> found;
        for (const convnet::Tensor& tensor :
             convnet::forward(model.network, model.weights, model.image, threads)) {
          const int exponent = model.network.layers[found.size()].exponent;
          found.push_back(mapped(tensor.values, [&](std::int16_t q) {
            return std::ldexp(convnet::number_of(type, q), exponent);
          }));
          const auto size = [](std::int16_t q) { return std::abs(int{q}); };
          CHECK(size(std::ranges::max(tensor.values, {}, size)) > least);
        }
        return found;
      };
      const auto exact = tensors_of(program::Type::i16, 5000);
      for (const auto& [found, near] : {std::pair(tensors_of(kByte, 20), 0.02),
                                        std::pair(tensors_of(program::Type::bf16, 0), 0.01)})
        for (std::size_t i = 1; i < exact.size(); ++i) {
          CAPTURE(i);
          double error = 0, largest = 0;
          for (std::size_t j = 0; j < exact[i].size(); ++j) {
            error += std::pow(found[i][j] - exact[i][j], 2);
            largest = std::max(largest, std::abs(exact[i][j]));
          }
          CHECK(std::sqrt(error / static_cast<double>(exact[i].size())) < near * largest);
        }
    }
  }

  TEST_CASE("the image is shifted where it meets coarser tensors") {
    Network network = network_of(R"(
      "image": {"op": "input", "shape": [6, 6, 8]},
      "a": {"op": "convolution", "channels": 8},
      "b": {"op": "concatenate", "from": ["a", "image"]})");
    std::vector<convnet::RealWeights> real(3);
    real[1].values.assign(64, 1);
    real[1].bias.assign(8, 0);
    HostThreads threads(1);
    const convnet::Image image = convnet::seeded_image({6, 6, 8}, 1, kByte);
    const auto model = convnet::make_model(network, real, image, 1, 0, threads);
    CHECK(model.network.layers[0].exponent == model.network.layers[1].exponent);
    const int raised = model.network.layers[0].exponent - image.exponent;
    CHECK(raised > 0);
    CHECK(model.image.values[5] == convnet::requantised(image.tensor.values[5],
                                                        static_cast<std::uint32_t>(raised), false,
                                                        kByte));
  }

  TEST_CASE("scales that do not come together are refused with the layer's name") {
    const auto message = [](Network network, float weight, float bias) {
      std::vector<convnet::RealWeights> real(network.layers.size());
      for (std::size_t i = 0; i < real.size(); ++i) {
        real[i].values.assign(network.layers[i].weights(), weight);
        real[i].bias.assign(network.layers[i].output.channels, bias);
      }
      HostThreads threads(1);
      return test::refusal([&] {
        return convnet::make_model(network, real, convnet::seeded_image({4, 4, 8}, 1, kByte), 1, 0,
                                   threads);
      });
    };
    Network network = network_of(R"(
      "image": {"op": "input", "shape": [4, 4, 8]},
      "a": {"op": "convolution", "channels": 8},
      "b": {"op": "add", "from": ["a", "image"]})");
    CHECK(message(network, 1, 0) == "");
    CHECK(message(network, 1, 1e8F) ==
          "network 'mine': layer 'a': a bias is 2^30 times its scale or more");
    network.layers[1].fixed_exponent = -14;
    CHECK(message(network, 1, 0) ==
          "network 'mine': layer 'a': its fixed exponent is below that of its sums");
    network.layers[1].fixed_exponent = 0;
    CHECK(message(network, 1, 0) == "");
    network.layers[0].fixed_exponent = -8;
    CHECK(message(network, 1, 0) ==
          "network 'mine': layer 'image': its exponent is fixed, but the image has another");
    network.layers[0].fixed_exponent = -7;
    CHECK(message(network, 1, 0) ==
          "network 'mine': layer 'image': its fixed exponent is too small for the tensors that "
          "share it");
  }

  TEST_CASE("weights of a folder are put channels last, a bias may be missing") {
    const test::CommandFolder folder{{"a.weight.npy", counting({4, 3, 2, 3})},
                                     {"a.bias.npy", counting({4})},
                                     {"b.weight.npy", counting({4, 1, 2, 2})}};
    const Network network = network_of(R"(
      "image": {"op": "input", "shape": [5, 5, 3]},
      "a": {"op": "convolution", "channels": 4, "kernel": [2, 3]},
      "b": {"op": "depthwise_convolution", "kernel": 2})");
    const auto read = [&] {
      return convnet::read_weights(network, folder.path().string(), "workload.weights");
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
