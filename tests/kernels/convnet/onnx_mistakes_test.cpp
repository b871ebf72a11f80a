#include <cmath>

#include <doctest/doctest.h>

#include "tests/kernels/convnet/onnx_models.h"

using namespace tessera;
using test::add_int8;
using test::Attribute;
using test::base_model;
using test::integer;
using test::integers;
using test::message;
using test::message_of;
using test::node;
using test::Type;
using test::with;

TEST_SUITE("unit") {
  TEST_CASE("what is no model, or of another opset, is refused") {
    const std::string whole = test::encoded(base_model());
    CHECK(message_of("") == "no ONNX model: found no graph with nodes");
    CHECK(message_of("{}") == "no ONNX model: field 15 has the wire type 3");
    CHECK(message_of(whole.substr(0, whole.size() - 9)) == "no ONNX model: it ends inside a field");
    test::Model model = base_model();
    model.opset = 22;
    CHECK(message(model) == "found opset 22, allowed 9 to 21");
    for (std::uint64_t i = 0; i < 2000; ++i) {
      std::string bytes = whole;
      bytes[data::random_below(1, 1, i, bytes.size())] =
          static_cast<char>(data::random_below(1, 2, i, 256));
      static_cast<void>(message_of(bytes));
    }
  }

  TEST_CASE("mistakes in a model name its node") {
    const test::Model model = base_model();
    CHECK(message(with(model, node("LSTM", {"c"}, "d"))) ==
          "node 'nd' (LSTM): found an unknown operator, allowed Add, AveragePool, "
          "BatchNormalization, Concat, Conv, DequantizeLinear, Dropout, Flatten, Gemm, "
          "GlobalAveragePool, Identity, MatMul, MaxPool, Pad, QuantizeLinear, Relu, Reshape");
    CHECK(message(with(model, node("Relu", {"nothing"}, "d"))) ==
          "node 'nd' (Relu): takes 'nothing', which nothing gives");
    CHECK(message(with(with(model, node("Add", {"c", "e"}, "d")), node("Relu", {"d"}, "e"))) ==
          "node 'nd' (Add): takes 'e', which node 'ne' gives later: nodes stand in the order of "
          "their execution, and form no cycle");
    CHECK(message(with(model, node("Relu", {"c"}, "x"))) ==
          "node 'nx' (Relu): gives 'x', which stands before it already");
    CHECK(message(with(model, node("Add", {"c", "x"}, "d"))) ==
          "layer 'nd': takes 'x' of 9x7x3 beside 'nc' of 5x4x16, allowed equal shapes");
    CHECK(message(with(model, node("Add", {"c", "b"}, "d"))) ==
          "node 'nd' (Add): takes the numbers 'b' of the model, allowed what other nodes give");
    CHECK(message(with(with(model, node("Relu", {"c"}, "d")), node("Add", {"c", "d"}, "e"))) ==
          "node 'nd' (Relu): takes 'c', which others take too, allowed it alone");
    CHECK(message(with(model, node("Conv", {"c", "w"}, "d"))) ==
          "layer 'nd': its weights are for 3 channels, but it takes 5x4x16");
    CHECK(message(with(with(model, node("Flatten", {"c"}, "d")), node("Conv", {"d", "w"}, "e")))
              .starts_with("node 'ne' (Conv): comes behind fully connected layers"));
    CHECK(message(
              with(with(model, node("GlobalAveragePool", {"c"}, "d")), node("Relu", {"d"}, "e"))) ==
          "node 'ne' (Relu): takes what layer 'nd' gives, allowed a Conv, a BatchNormalization or "
          "an Add");
  }

  TEST_CASE("attributes and weights that layers do not have are refused") {
    test::Model model = base_model();
    const auto changed = [&](const std::string& key, const Attribute& attribute) {
      test::Model other = base_model();
      other.nodes[0].attributes[key] = attribute;
      return message(other);
    };
    CHECK(changed("dilations", integers({2, 2})) ==
          "node 'nc' (Conv): dilations: found 2, 2, allowed 1");
    CHECK(changed("strides", integers({1})) ==
          "node 'nc' (Conv): strides: found 1 numbers, allowed 2: two dimensions");
    CHECK(changed("strides", integers({0, 1})) ==
          "node 'nc' (Conv): strides: found 0, allowed 1 to 8192");
    CHECK(changed("kernel_shape", integers({5, 5})) ==
          "node 'nc' (Conv): kernel_shape: found 5x5, but W is of 3x3");
    CHECK(changed("group", integer(3)) ==
          "node 'nc' (Conv): found 3 groups and W of 16x3x3x3, allowed 1 group, or as many as "
          "outputs of 1 channel");
    Attribute same;
    same.text = "SAME_UPPER";
    CHECK(changed("auto_pad", same) ==
          "node 'nc' (Conv): auto_pad: found SAME_UPPER, allowed NOTSET, VALID");
    model.initializers["w"].type = Type::uint8;
    CHECK(message(model) == "tensor 'w': found values of uint8, allowed float, int8, int32, int64");
    add_int8(model, "w", {16, 3, 3, 3});
    CHECK(message(model) ==
          "node 'nc' (Conv): takes 'w' of int8, allowed float, or DequantizeLinear before it");
    model = base_model();
    model.initializers["w"].floats.pop_back();
    CHECK(message(model) == "tensor 'w': found 431 values, expected 432 by its extents");
    model = base_model();
    model.initializers["w"].floats[5] = INFINITY;
    CHECK(message(model) ==
          "node 'nc' (Conv): takes 'w', in which there are values that are not finite");
    model = base_model();
    model.inputs[0].dims[2] = 0;
    CHECK(message(model).starts_with("input 'x': found float of 4 extents (0 x 3 x 0 x 7"));
    model.inputs.push_back(model.inputs[0]);
    CHECK(message(model) == "found 2 inputs, allowed 1");
  }
}
