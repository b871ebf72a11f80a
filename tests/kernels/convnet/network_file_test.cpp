#include "kernels/convnet/network_file.h"

#include <algorithm>
#include <array>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "kernels/convnet/network_builder.h"
#include "tests/refusal.h"

using namespace tessera;
using convnet::Network;
using convnet::Operator;

namespace {

constexpr const char* kImage = R"("image": {"op": "input", "shape": [6, 8, 3]})";

/// The network of an image of 6x8x3 and these layers.
Network parsed(const std::string& layers) {
  return convnet::parse_network(fmt::format(R"({{"layers": {{{}, {}}}}})", kImage, layers), "mine",
                                "mine.json");
}
/// What is said of a file behind its name.
std::string message(const std::string& text) {
  const std::string said =
      test::refusal([&] { return convnet::parse_network(text, "mine", "mine.json"); });
  CHECK(said.starts_with("mine.json: "));
  return said.substr(said.find(' ') + 1);
}
std::string layers_message(const std::string& layers) {
  return message(fmt::format(R"({{"layers": {{{}, {}}}}})", kImage, layers));
}
/// Layers by operator, as kOperators has them but for the input.
void check_network(const char* name, std::array<std::int64_t, 7> layers, double gmacs,
                   double mega_weights) {
  CAPTURE(name);
  const Network network = convnet::load_network(name, "workload.network");
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
    CHECK(convnet::network_names() ==
          std::vector<std::string>{"inception_v3", "resnet50", "resnet8", "vgg16"});
    check_network("resnet50", {{0, 53, 0, 1, 1, 16, 0}}, 4.087, 23.45);
    check_network("vgg16", {{0, 13, 0, 5, 1, 0, 0}}, 15.347, 14.71);
    check_network("inception_v3", {{0, 94, 0, 4, 10, 0, 11}}, 5.711, 21.75);
  }

  TEST_CASE("downsampling comes before conv1 of its block, and both take the block's input") {
    const Network network = convnet::load_network("resnet50", "workload.network");
    const auto& down = network.layers.at(16);
    CHECK(down.name == "layer2__0__downsample__0__input_40");
    CHECK(network.layers.at(17).name == "layer2__0__conv1__input_33");
    CHECK(down.inputs == network.layers.at(17).inputs);
    CHECK(network.users(down.inputs.front()) == std::vector<std::uint32_t>{16, 17});
    CHECK(network.layers.at(20).inputs == std::vector<std::uint32_t>{19, 16});
    CHECK(network.first_convolution() == 1);
  }

  TEST_CASE("a file says windows shortly, and layers take the one before them") {
    const Network network = parsed(R"(
      // A comment.
      "a": {"op": "convolution", "channels": 16, "kernel": [3, 5], "stride": 2, "pad": [1, 2]},
      "b": {"op": "depthwise_convolution", "kernel": 2, "pad": [0, 1, 1, 0], "relu": true},
      "c": {"op": "concatenate", "from": ["a", "b"], "output": [3, 4, 32]})");
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
    CHECK(message("{").starts_with("line 1"));
    CHECK(message(R"({"layer": {}})") == "layer: found an unknown key, allowed layers");
    CHECK(message("[]") == "(top level): found [], allowed an object {...}");
    CHECK(message("{}") == "layers: found null, allowed an object of layers by name");
    CHECK(layers_message(R"("a": 3)") == "layers.a: found 3, allowed an object {...}");
    CHECK(layers_message(R"("a": {"op": "convolutoin"})") ==
          "layers.a.op: found \"convolutoin\", allowed input, convolution, depthwise_convolution, "
          "max_pool, average_pool, add, concatenate; did you mean convolution?");
    CHECK(layers_message(R"("a": {"channels": 8})").starts_with("layers.a.op: is missing"));
    CHECK(layers_message(R"("a": {"op": "max_pool", "kernal": 2})")
              .starts_with("layers.a.kernal: found an unknown key"));
    CHECK(layers_message(R"("a": {"op": "max_pool", "kernel": 0})") ==
          "layers.a.kernel[0]: found 0, allowed an integer from 1 to 8192");
    CHECK(layers_message(R"("a": {"op": "max_pool", "kernel": [1, 2, 3]})") ==
          "layers.a.kernel: found 3 numbers, allowed 1 or 2");
    CHECK(layers_message(R"("a": {"op": "max_pool", "relu": true})") ==
          "layers.a.relu: is given, but nothing reads it of max_pool");
    CHECK(layers_message(R"("a": {"op": "convolution"})") ==
          "layers.a.channels: is missing, allowed an integer from 1 to 8192");
    CHECK(layers_message(R"("a": {"op": "max_pool", "from": 1})") ==
          "layers.a.from: found 1, allowed a layer's name or a list of names");
    CHECK(message(R"({"layers": {"a": {"op": "input", "shape": [3]}}})") ==
          "layers.a.shape: found 1 numbers, allowed [height, width, channels]");
    CHECK(layers_message(R"("a": {"op": "max_pool"}, "a": {"op": "max_pool"})") ==
          "layers.a: the key stands twice in the same object");
  }

  TEST_CASE("layers take layers that are, in order and without cycles") {
    CHECK(message(R"({"layers": {}})") ==
          "found 0 layers, allowed from 2 on: an input and what takes it");
    CHECK(message(R"({"layers": {"a": {"op": "max_pool", "from": []}}})") ==
          "layer 'a': found operator max_pool of the first layer, allowed input");
    CHECK(layers_message(R"("a": {"op": "input", "shape": [1, 1, 1]})") ==
          "layer 'a': is a second input, allowed one");
    CHECK(layers_message(R"("a": {"op": "max_pool", "from": "imgae"})") ==
          "layer 'a': takes 'imgae', which is no layer; did you mean image?");
    CHECK(layers_message(R"("a": {"op": "max_pool", "from": "a"})") ==
          "layer 'a': takes its own output");
    CHECK(layers_message(R"("a": {"op": "max_pool", "from": "b"}, "b": {"op": "max_pool"})") ==
          "layer 'a': takes 'b', which comes later: layers stand in the order of their execution, "
          "and form no cycle");
    CHECK(layers_message(R"("a": {"op": "max_pool", "from": []})") ==
          "layer 'a': takes 0 inputs, allowed 1");
    CHECK(layers_message(R"("a": {"op": "add"})") == "layer 'a': adds 1 inputs, allowed 2");
    CHECK(layers_message(R"("a": {"op": "concatenate"})") ==
          "layer 'a': concatenates 1 inputs, allowed from 2 on");
    CHECK(layers_message(R"("a": {"op": "max_pool"}, "b": {"op": "max_pool", "from": "image"})") ==
          "layer 'a': no layer takes its output, allowed for the last one, 'b'");
    CHECK(test::refusal([] {
            convnet::NetworkBuilder builder("mine", "f");
            convnet::LayerStatement image;
            image.name = "image";
            image.output = {6, 8, 3};
            builder.add(image);
            builder.add(image);
          }) == "f: layer 'image': stands twice");
  }

  TEST_CASE("shapes must agree, and windows lie on their input") {
    const std::string a = R"("a": {"op": "convolution", "channels": 8}, )";
    CHECK(layers_message(a + R"("b": {"op": "add", "from": ["a", "image"]})") ==
          "layer 'b': takes 'image' of 6x8x3 beside 'a' of 6x8x8, allowed equal shapes");
    CHECK(layers_message(a + R"("b": {"op": "max_pool", "kernel": 2, "stride": 2},
                                "c": {"op": "concatenate", "from": ["a", "b"]})") ==
          "layer 'c': takes 'b' of 3x4x8 beside 'a' of 6x8x8, allowed equal heights and widths");
    CHECK(layers_message(a + R"("b": {"op": "concatenate", "from": ["image", "a"]})") ==
          "layer 'b': takes 'a' behind 3 channels, allowed multiples of 8");
    CHECK(layers_message(R"("a": {"op": "max_pool", "output": [3, 4, 8]})") ==
          "layer 'a': its output is 6x8x3 by its inputs, but the file says 3x4x8");
    CHECK(layers_message(R"("a": {"op": "max_pool", "kernel": [7, 1]})") ==
          "layer 'a': its window of 7x1 is larger than its padded input of 6x8x3");
    CHECK(layers_message(R"("a": {"op": "max_pool", "kernel": 2, "pad": [2, 0, 0, 0]})") ==
          "layer 'a': pads by 2, 0, 0, 0 (top, left, bottom, right), allowed less than its window "
          "of 2x2");
  }

  TEST_CASE("sizes have limits") {
    const auto behind = [](const char* shape, const std::string& layers) {
      return message(fmt::format(R"({{"layers": {{"image": {{"op": "input", "shape": {}}}, {}}}}})",
                                 shape, layers));
    };
    const auto layers = [](int count, const char* layer) {
      std::string text;
      for (int i = 1; i <= count; ++i)
        text += fmt::format(R"({}"{}": {})", i > 1 ? "," : "", i, layer);
      return text;
    };
    CHECK(behind("[6, 8192, 3]", R"("a": {"op": "max_pool", "kernel": 2, "pad": [0, 1]})") ==
          "layer 'a': its output is 5x8193x3, allowed extents from 1 to 8192");
    CHECK(behind("[8192, 8192, 8]", R"("a": {"op": "max_pool"})") ==
          "layer 'image': its output of 8192x8192x8 has 536870912 elements, allowed 67108864");
    CHECK(behind("[8, 8, 8192]", R"("a": {"op": "convolution", "channels": 8, "kernel": 3})") ==
          "layer 'a': sums up 73728 products, allowed 65536, so that i32 holds them");
    CHECK(layers_message(layers(1024, R"({"op": "max_pool"})")) ==
          "layer '1024': is one more than the 1024 allowed");
    CHECK(behind("[8, 8, 8192]", layers(5, R"({"op": "convolution", "channels": 8192})")) ==
          "layer '5': with it the network has 335544320 weights, allowed 268435456");
  }

  TEST_CASE("a name that is neither a network nor a file is refused with the names") {
    CHECK_THROWS_WITH_AS(convnet::load_network("resnet5", "workload.network"),
                         "workload.network: found 'resnet5', allowed a file that exists, or one of "
                         "inception_v3, resnet50, resnet8, vgg16; did you mean resnet50?",
                         KeyError);
  }
}
