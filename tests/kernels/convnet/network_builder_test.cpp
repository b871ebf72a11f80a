#include "kernels/convnet/network_builder.h"

#include <doctest/doctest.h>

#include "tests/refusal.h"

using namespace tessera;
using convnet::LayerStatement;
using convnet::Operator;
using convnet::Window;

namespace {

LayerStatement image(convnet::Shape shape = {6, 8, 3}) {
  LayerStatement made;
  made.name = "image";
  made.output = shape;
  return made;
}
LayerStatement layer(const std::string& name, Operator op, std::vector<std::string> from) {
  LayerStatement made;
  made.name = name;
  made.op = op;
  made.from = std::move(from);
  if (op == Operator::convolution) made.output.channels = 8;
  return made;
}
LayerStatement windowed(Window window, Operator op = Operator::max_pool) {
  LayerStatement made = layer("a", op, {"image"});
  made.window = window;
  return made;
}
std::string message(const std::vector<LayerStatement>& layers) {
  return test::refusal([&] {
    convnet::NetworkBuilder builder("mine", "f", {"later"});
    for (const LayerStatement& each : layers) builder.add(each);
    builder.finish();
  });
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("layers take layers that are, in order and without cycles") {
    CHECK(message({}) == "f: found 0 layers, allowed from 2 on: an input and what takes it");
    CHECK(message({layer("a", Operator::max_pool, {})}) ==
          "f: layer 'a': found operator max_pool of the first layer, allowed input");
    CHECK(message({image(), layer("a", Operator::input, {})}) ==
          "f: layer 'a': is a second input, allowed one");
    CHECK(message({image(), layer("image", Operator::max_pool, {"image"})}) ==
          "f: layer 'image': stands twice");
    CHECK(message({image(), layer("a", Operator::max_pool, {"imgae"})}) ==
          "f: layer 'a': takes 'imgae', which is no layer; did you mean image?");
    CHECK(message({image(), layer("a", Operator::max_pool, {"a"})}) ==
          "f: layer 'a': takes its own output");
    CHECK(message({image(), layer("a", Operator::max_pool, {"later"})}) ==
          "f: layer 'a': takes 'later', which comes later: layers stand in the order of their "
          "execution, and form no cycle");
    CHECK(message({image(), layer("a", Operator::max_pool, {})}) ==
          "f: layer 'a': takes 0 inputs, allowed 1");
    CHECK(message({image(), layer("a", Operator::add, {"image"})}) ==
          "f: layer 'a': adds 1 inputs, allowed 2");
    CHECK(message({image(), layer("a", Operator::concatenate, {"image"})}) ==
          "f: layer 'a': concatenates 1 inputs, allowed from 2 on");
    CHECK(message({image(), layer("a", Operator::max_pool, {"image"}),
                   layer("b", Operator::max_pool, {"image"})}) ==
          "f: layer 'a': no layer takes its output, allowed for the last one, 'b'");
  }

  TEST_CASE("shapes must agree") {
    const LayerStatement a = layer("a", Operator::convolution, {"image"});
    CHECK(message({image(), a, layer("b", Operator::add, {"a", "image"})}) ==
          "f: layer 'b': takes 'image' of 6x8x3 beside 'a' of 6x8x8, allowed equal shapes");
    LayerStatement half = windowed({2, 2, 2, 2});
    CHECK(message({image({6, 8, 8}), half, layer("b", Operator::concatenate, {"image", "a"})}) ==
          "f: layer 'b': takes 'a' of 3x4x8 beside 'image' of 6x8x8, allowed equal heights and "
          "widths");
    CHECK(message({image(), a, layer("b", Operator::concatenate, {"image", "a"})}) ==
          "f: layer 'b': takes 'a' behind 3 channels, allowed multiples of 8");
    half.expected = convnet::Shape{3, 4, 8};
    CHECK(message({image(), half}) ==
          "f: layer 'a': its output is 3x4x3 by its inputs, but the file says 3x4x8");
  }

  TEST_CASE("windows lie on their input") {
    CHECK(message({image(), windowed({7, 1})}) ==
          "f: layer 'a': its window of 7x1 is larger than its padded input of 6x8x3");
    CHECK(message({image(), windowed({2, 2, 1, 1, 2, 0, 0, 0})}) ==
          "f: layer 'a': pads by 2, 0, 0, 0 (top, left, bottom, right), allowed less than its "
          "window of 2x2");
    CHECK(message({image(), windowed({2, 2, 0, 1})}) ==
          "f: layer 'a': its window is 2x2 in steps of 0x1, allowed from 1 to 8192");
  }

  TEST_CASE("sizes have limits") {
    CHECK(message({image({6, 9000, 3})}) ==
          "f: layer 'image': its output is 6x9000x3, allowed extents from 1 to 8192");
    CHECK(message({image({8192, 8192, 8})}) ==
          "f: layer 'image': its output of 8192x8192x8 has 536870912 elements, allowed 67108864");
    CHECK(message({image({8, 8, 8192}), windowed({3, 3}, Operator::convolution)}) ==
          "f: layer 'a': sums up 73728 products, allowed 65536, so that i32 holds them");
    std::vector<LayerStatement> many = {image()};
    for (int i = 1; i <= 1024; ++i)
      many.push_back(layer(std::to_string(i), Operator::max_pool, {many.back().name}));
    CHECK(message(many) == "f: layer '1024': is one more than the 1024 allowed");
    many = {image({8, 8, 8192})};
    for (int i = 1; i <= 5; ++i) {
      many.push_back(layer(std::to_string(i), Operator::convolution, {many.back().name}));
      many.back().output.channels = 8192;
    }
    CHECK(message(many) ==
          "f: layer '5': with it the network has 335544320 weights, allowed 268435456");
  }
}
