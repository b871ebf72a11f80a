#include "kernels/convnet/network_file.h"

#include <algorithm>
#include <array>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "kernels/convnet/network_builder.h"
#include "sim/base/ranges.h"
#include "sim/config/presets.h"
#include "tests/cli/command.h"
#include "tests/refusal.h"

using namespace tessera;
using convnet::Network;
using convnet::Operator;

namespace {

/// The parser's error message without the file name in front.
std::string message(const std::string& text) {
  const std::string said =
      test::refusal([&] { return convnet::parse_network(text, "mine", "mine.json"); });
  CHECK(said.starts_with("mine.json: "));
  return said.substr(said.find(' ') + 1);
}
/// A file with a 6x8x3 input image and these layers.
std::string behind_image(const std::string& layers) {
  return fmt::format(R"({{"layers": {{"image": {{"op": "input", "shape": [6, 8, 3]}}, {}}}}})",
                     layers);
}
/// `layers` is the number of layers for each operator, in the order of kOperators; [0] is unused.
void check_network(const char* name, std::array<std::int64_t, 7> layers, double gmacs,
                   double mega_weights) {
  CAPTURE(name);
  const Network network = convnet::load_network_file(name, "workload.network").network;
  CHECK(network.name == name);
  for (std::size_t op = 1; op < layers.size(); ++op)
    CHECK(std::ranges::count(network.layers, Operator(op), &convnet::Layer::op) == layers[op]);
  CHECK(static_cast<double>(network.macs()) / 1e9 == doctest::Approx(gmacs).epsilon(2e-4));
  CHECK(static_cast<double>(network.weights()) / 1e6 ==
        doctest::Approx(mega_weights).epsilon(3e-4));
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("the networks inside the program have the published layers, work and weights") {
    CHECK(mapped(config::network_presets(), &config::Preset::name) ==
          std::vector<std::string_view>{"inception_v3", "resnet50", "resnet8", "vgg16"});
    check_network("resnet50", {{0, 53, 0, 1, 1, 16, 0}}, 4.087, 23.45);
    check_network("vgg16", {{0, 13, 0, 5, 1, 0, 0}}, 15.347, 14.71);
    check_network("inception_v3", {{0, 94, 0, 4, 10, 0, 11}}, 5.711, 21.75);
  }

  TEST_CASE("downsampling comes before conv1 of its block, and both take the block's input") {
    const Network network = convnet::load_network_file("resnet50", "workload.network").network;
    const auto& down = network.layers.at(16);
    CHECK(down.name == "layer2__0__downsample__0__input_40");
    CHECK(network.layers.at(17).name == "layer2__0__conv1__input_33");
    CHECK(down.inputs == network.layers.at(17).inputs);
    CHECK(network.users(down.inputs.front()) == std::vector<std::uint32_t>{16, 17});
    CHECK(network.layers.at(20).inputs == std::vector<std::uint32_t>{19, 16});
    CHECK(network.first_convolution() == 1);
  }

  TEST_CASE("a file says windows shortly, and layers take the one before them") {
    const Network network = convnet::parse_network(behind_image(R"(
      // A comment.
      "a": {"op": "convolution", "channels": 16, "kernel": [3, 5], "stride": 2, "pad": [1, 2]},
      "b": {"op": "depthwise_convolution", "kernel": 2, "pad": [0, 1, 1, 0], "relu": true},
      "c": {"op": "concatenate", "from": ["a", "b"], "output": [3, 4, 32]})"),
                                                   "mine", "mine.json");
    const convnet::Layer& a = network.layers.at(1);
    CHECK(a.window == convnet::Window{3, 5, 2, 2, 1, 2, 1, 2});
    CHECK(a.output == convnet::Shape{3, 4, 16});
    CHECK(a.inputs == std::vector<std::uint32_t>{0});
    CHECK(a.weights() == 720);
    CHECK(a.macs() == 12 * a.weights());
    const convnet::Layer& b = network.layers.at(2);
    CHECK(b.window == convnet::Window{2, 2, 1, 1, 0, 1, 1, 0});
    CHECK(b.weights() == 64);
    CHECK(b.relu);
    CHECK(network.layers.at(3).input == convnet::Shape{3, 4, 32});
  }

  TEST_CASE("mistakes in a file name the file, the layer and what is allowed") {
    const test::Json groups = test::source_json("tests/kernels/convnet/network_mistakes.json");
    for (const auto& group : groups.items())
      for (const test::Json& mistake : group.value()) {
        const std::string text =
            mistake[0].is_string() ? mistake[0].get<std::string>() : mistake[0].dump();
        const bool whole = mistake[0].is_string() || mistake[0].contains("layers");
        CAPTURE(text);
        CHECK(message(whole ? text : behind_image(text.substr(1, text.size() - 2))) == mistake[1]);
      }
    CHECK(test::refusal([] {
            convnet::NetworkBuilder builder("mine", "f");
            convnet::LayerStatement image;
            image.name = "image";
            image.output = {6, 8, 3};
            builder.add(image);
            builder.add(image);
          }) == "f: layer 'image': stands twice");
  }

  TEST_CASE("a network has at most 1024 layers") {
    std::string layers = R"("1": {"op": "max_pool"})";
    for (int i = 2; i <= 1024; ++i) layers += fmt::format(R"(, "{}": {{"op": "max_pool"}})", i);
    CHECK(message(behind_image(layers)) == "layer '1024': is one more than the 1024 allowed");
  }

  TEST_CASE("a name that is neither a network nor a file is refused with the names") {
    CHECK_THROWS_WITH_AS(convnet::load_network_file("resnet5", "workload.network"),
                         "workload.network: found 'resnet5', allowed a file that exists, or one of "
                         "inception_v3, resnet50, resnet8, vgg16; did you mean resnet50?",
                         KeyError);
  }
}
