#include <cmath>
#include <limits>

#include "kernels/convnet/convnet.h"
#include "kernels/convnet/network_image.h"
#include "tests/cli/command.h"
#include "tests/kernels/convnet/onnx_models.h"

namespace tessera::test {

using convnet::NetworkFile;

TEST_SUITE("unit") {
  TEST_CASE("a convolution is read with its weights, channels last") {
    Model model = with(base_model(), node("Relu", {"c"}, "r"));
    const NetworkFile file = read_model(model);
    REQUIRE(file.network.layers.size() == 2);
    CHECK(file.network.layers[0].output == convnet::Shape{9, 7, 3});
    const convnet::Layer& layer = file.network.layers[1];
    CHECK(layer.name == "nc");
    CHECK(layer.relu);
    CHECK(layer.window == convnet::Window{3, 3, 2, 2, 1, 1, 1, 1});
    CHECK(layer.output == convnet::Shape{5, 4, 16});
    const std::vector<float>& w = model.initializers["w"].floats;
    const auto wanted = [&](std::size_t out, std::size_t y, std::size_t x, std::size_t in) {
      return w[((out * 3 + in) * 3 + y) * 3 + x];
    };
    CHECK(file.weights[1].values[((5 * 3 + 1) * 3 + 2) * 3 + 0] == wanted(5, 1, 2, 0));
    CHECK(file.weights[1].values[((15 * 3 + 0) * 3 + 1) * 3 + 2] == wanted(15, 0, 1, 2));
    CHECK(file.weights[1].bias[7] == model.initializers["b"].floats[7]);
  }

  TEST_CASE("a cut at the largest number of f32 is none") {
    const Attribute zero{.number = 0}, most{.number = std::numeric_limits<float>::max()};
    const Node clip = node("Clip", {"c"}, "r", {{"min", zero}, {"max", most}});
    CHECK(read_model(with(base_model(), clip)).network.layers[1].relu);
  }

  TEST_CASE("normalisations become part of their convolution") {
    Model model = base_model();
    for (const char* name : {"scale", "shift", "mean"}) add_floats(model, name, {16});
    add_floats(model, "var", {16}, 1.5F);
    Node norm = node("BatchNormalization", {"c", "scale", "shift", "mean", "var"}, "n");
    norm.attributes["epsilon"].number = 0.5F;
    const NetworkFile file = read_model(with(model, norm));
    const NetworkFile plain = read_model(model);
    CHECK(file.network.layers.size() == 2);
    const auto number = [&](const char* name) { return model.initializers[name].floats[4]; };
    const double factor = number("scale") / std::sqrt(number("var") + 0.5);
    CHECK(file.weights[1].values[4 * 27 + 6] ==
          doctest::Approx(factor * plain.weights[1].values[4 * 27 + 6]));
    CHECK(file.weights[1].bias[4] ==
          doctest::Approx((number("b") - number("mean")) * factor + number("shift")));
    model.initializers["scale"].floats.assign(16, 3e38F);
    model.initializers["var"].floats.assign(16, 0);
    norm.attributes["epsilon"].number = 1e-8F;
    CHECK(message(with(model, norm)) ==
          "node 'nn' (BatchNormalization): the weights and bias of channel 0 exceed the range of "
          "f32");
    norm.outputs.insert(norm.outputs.end(), {"mean of the batch", "its variance"});
    CHECK(message(with(model, norm)) ==
          "node 'nn' (BatchNormalization): is of a model in training mode, allowed one exported "
          "for inference (training_mode 0)");
  }

  TEST_CASE("a normalisation of anything but a convolution is one of 1x1 for itself") {
    Model model = base_model();
    for (const char* name : {"scale", "shift", "mean"}) add_floats(model, name, {16});
    add_floats(model, "var", {16}, 1.5F);
    const auto norm = [](const std::string& of, const std::string& name) {
      return node("BatchNormalization", {of, "scale", "shift", "mean", "var"}, name,
                  {{"epsilon", Attribute{.number = 0.5F}}});
    };
    for (const Node& each : {norm("c", "n"), node("Clip", {"n", "low"}, "r"), norm("r", "m"),
                             node("Add", {"m", "r"}, "a")})
      model.nodes.push_back(each);
    add_floats(model, "low", {1}, 0);
    model.initializers["low"].floats = {0};
    model.outputs = {"a"};
    const NetworkFile file = read_model(model);
    REQUIRE(file.network.layers.size() == 4);
    const convnet::Layer& layer = file.network.layers[2];
    CHECK(file.network.layers[1].relu);
    CHECK(layer.op == convnet::Operator::depthwise_convolution);
    CHECK(layer.output == convnet::Shape{5, 4, 16});
    const auto number = [&](const char* name) { return model.initializers[name].floats[4]; };
    const double factor = number("scale") / std::sqrt(number("var") + 0.5);
    CHECK(file.weights[2].values[4] == doctest::Approx(factor));
    CHECK(file.weights[2].bias[4] == doctest::Approx(number("shift") - number("mean") * factor));
    add_floats(model, "scale", {8});
    CHECK(message(model) == "node 'nn' (BatchNormalization): input 2 has 16 numbers, expected 8");
  }

  TEST_CASE("all operators make a network, the fully connected end is left out") {
    Model model = base_model();
    add_floats(model, "w2", {16, 16, 1, 1});
    add_floats(model, "w3", {16, 1, 3, 3});
    add_floats(model, "w4", {10, 48});
    const std::pair<const std::string, Attribute> window{"kernel_shape", integers({3, 3})},
        padded{"pads", integers({1, 1, 1, 1})};
    for (const Node& each :
         {node("Relu", {"c"}, "r"), node("Conv", {"r", "w2"}, "d"), node("Add", {"d", "r"}, "a"),
          node("Relu", {"a"}, "ar"),
          node("Conv", {"ar", "w3"}, "e", {{"group", integer(16)}, padded}),
          node("MaxPool", {"r"}, "p", {window, padded}),
          node("AveragePool", {"r"}, "q", {window, padded, {"count_include_pad", integer(1)}}),
          node("Concat", {"e", "p", "q"}, "j", {{"axis", integer(1)}}),
          node("Dropout", {"j"}, "jd"), node("GlobalAveragePool", {"jd"}, "g"),
          node("Flatten", {"g"}, "f"), node("Gemm", {"f", "w4"}, "y")})
      model.nodes.push_back(each);
    model.outputs = {"y"};
    const CommandFolder folder{{"mine.onnx", encoded(model)}};
    const NetworkFile file =
        convnet::load_network_file((folder.path() / "mine.onnx").string(), "workload.network");
    CHECK(file.network.name == "mine");
    CHECK(file.skipped == Names{"nf", "ny"});
    std::string operators;
    for (const convnet::Layer& layer : file.network.layers)
      operators += std::string(config::name_of(convnet::kOperators, layer.op)) + " ";
    CHECK(operators ==
          "input convolution convolution add depthwise_convolution max_pool average_pool "
          "concatenate average_pool ");
    CHECK(file.network.layers[3].inputs == std::vector<std::uint32_t>{2, 1});
    CHECK(file.network.layers[3].relu);
    CHECK(file.network.layers.back().input == convnet::Shape{5, 4, 48});
    CHECK(file.network.layers.back().output == convnet::Shape{1, 1, 48});
  }

  TEST_CASE("the summary says which nodes are not simulated") {
    Model model = base_model();
    add_floats(model, "w4", {10, 16});
    for (const Node& each : {node("GlobalAveragePool", {"c"}, "g"), node("Flatten", {"g"}, "f"),
                             node("Gemm", {"f", "w4"}, "y")})
      model.nodes.push_back(each);
    model.outputs = {"y"};
    const CommandFolder folder{{"mine.onnx", encoded(model)}};
    const auto answer = folder.done("check -", R"({"machine": "aie2_2x2", "workload":
      {"kernel": "convnet", "network": "mine.onnx"}})");
    CHECK(test::holds(answer.out, "\n  not simulated and not counted: nf, ny, after "));
  }

  TEST_CASE("forms in which exporters write a network are read") {
    Model model = base_model();
    model.nodes[0].inputs = {"x", "same", "b"};
    model.nodes.insert(model.nodes.begin(), node("Identity", {"w"}, "same"));
    Node pool = node("MaxPool", {"c"}, "p");
    pool.attributes["kernel_shape"] = integers({2, 2});
    Node mean = node("ReduceMean", {"r"}, "m");
    mean.attributes["axes"] = integers({-1, 2});
    model.nodes.insert(model.nodes.end(), {pool, node("Relu", {"p"}, "r"), mean});
    for (const char* type : {"Shape", "Gather", "Unsqueeze"})
      model.nodes.push_back(node(type, {model.nodes.back().outputs[0]}, type));
    model.nodes.push_back(node("Reshape", {"m", "Unsqueeze"}, "y"));
    model.outputs = {"y"};
    const NetworkFile file = read_model(model);
    CHECK(file.network.layers.at(1).relu);
    CHECK(file.network.layers.back().output == convnet::Shape{1, 1, 16});
    CHECK(file.skipped == Names{"nShape", "nGather", "nUnsqueeze", "ny"});
    model.outputs.emplace_back("c");
    CHECK(message(model).starts_with("node 'nr' (Relu): uses the output of layer 'np', allowed"));
    model.outputs.pop_back();
    model.nodes[4].attributes["axes"] = integers({1, 2});
    CHECK(message(model) ==
          "node 'nm' (ReduceMean): axes: found 1, 2, allowed 2, 3: all rows and columns");
  }

  TEST_CASE("padding that the input's extents decide keeps extents over strides") {
    Model model = base_model();  // 9x7, windows of 3x3 with stride 2
    model.initializers["w"].dims = {16, 3, 2, 4};
    add_floats(model, "w", {16, 3, 2, 4});
    model.nodes[0].attributes.erase("pads");
    model.nodes[0].attributes.erase("kernel_shape");
    for (const bool upper : {true, false}) {
      model.nodes[0].attributes["auto_pad"].text = upper ? "SAME_UPPER" : "SAME_LOWER";
      const convnet::Layer layer = read_model(model).network.layers[1];
      CHECK(layer.output == convnet::Shape{5, 4, 16});
      CHECK(layer.window == (upper ? convnet::Window{2, 4, 2, 2, 0, 1, 1, 2}
                                   : convnet::Window{2, 4, 2, 2, 1, 2, 0, 1}));
    }
  }

  TEST_CASE("an average whose extents decide that it has no padding need not count it") {
    const auto halved = [](std::int64_t rows) {
      Model model = base_model();
      model.inputs[0].dims = {0, 3, rows, 8};
      model.nodes = {node("AveragePool", {"x"}, "c",
                          {{"kernel_shape", integers({2, 2})}, {"strides", integers({2, 2})}})};
      model.nodes[0].attributes["auto_pad"].text = "SAME_UPPER";
      return model;
    };
    CHECK(read_model(halved(6)).network.layers[1].output == convnet::Shape{3, 4, 3});
    CHECK(message(halved(7)) == "layer 'nc': count_include_pad: found 0 with padding, allowed 1");
    Model counted = halved(7);
    counted.nodes[0].attributes["count_include_pad"] = integer(1);
    CHECK(read_model(counted).network.layers[1].output == convnet::Shape{4, 4, 3});
  }

  TEST_CASE("padding that extents decide counts the zeros of a Pad before it") {
    Model model = base_model();
    model.inputs[0].dims = {0, 3, 8, 8};
    model.initializers["pads"] = {
        "pads", {8}, Type::int64, false, {}, {}, {0, 0, 0, 0, 0, 0, 1, 1}};
    model.nodes[0].attributes.erase("pads");
    model.nodes[0].attributes["auto_pad"].text = "SAME_UPPER";
    model.nodes[0].inputs[0] = "padded";
    model.nodes.insert(model.nodes.begin(), node("Pad", {"x", "pads"}, "padded"));
    const convnet::Layer layer = read_model(model).network.layers[1];
    CHECK(layer.window == convnet::Window{3, 3, 2, 2, 1, 1, 2, 2});  // padded to 9 by 9
    CHECK(layer.output == convnet::Shape{5, 5, 16});
  }

  TEST_CASE("zeros of a Pad become the padding of an average or a convolution") {
    Model model = base_model();
    model.initializers["pads"] = {
        "pads", {8}, Type::int64, false, {}, {}, {0, 0, 1, 2, 0, 0, 0, 1}};
    model.nodes.push_back(node("Pad", {"c", "pads"}, "d"));
    model.nodes.push_back(node("AveragePool", {"d"}, "e", {{"kernel_shape", integers({3, 3})}}));
    const convnet::Layer layer = read_model(model).network.layers.at(2);
    CHECK(layer.window == convnet::Window{3, 3, 1, 1, 1, 2, 0, 1});
    CHECK(layer.inputs == std::vector<std::uint32_t>{1});
    model.nodes.back().type = "MaxPool";
    CHECK(message(model) ==
          "node 'ne' (MaxPool): uses the output of a Pad, allowed for Conv, AveragePool");
    model.initializers["pads"].integers[1] = 1;
    CHECK(message(model) ==
          "node 'nd' (Pad): pads: found 0, 1, 1, 2, 0, 0, 0, 1, allowed 0, 0, top, left, 0, 0, "
          "bottom, right, up to 8192");
    model.nodes[1].attributes["mode"].text = "reflect";
    CHECK(message(model) == "node 'nd' (Pad): mode: found reflect, allowed constant");
  }

  TEST_CASE("quantised models fix exponents and keep their int8 weights") {
    Model model = base_model();
    add_int8(model, "w", {16, 3, 3, 3});
    model.initializers["b"] = {
        "b", {16}, Type::int32, false, {}, {}, std::vector<std::int64_t>(16, 777)};
    model.initializers["zero"] = {"zero", {}, Type::int8, false, {}, {}, {0}};
    for (const int e : {-3, -6, -9, -15})
      add_scalar(model, "2^" + std::to_string(e), std::ldexp(1.0F, e));
    model.nodes = {node("QuantizeLinear", {"x", "2^-6", "zero"}, "xq"),
                   node("DequantizeLinear", {"xq", "2^-6", "zero"}, "xd"),
                   node("DequantizeLinear", {"w", "2^-9", "zero"}, "wd"),
                   node("DequantizeLinear", {"b", "2^-15"}, "bd"),
                   node("Conv", {"xd", "wd", "bd"}, "c"),
                   node("Relu", {"c"}, "r"),
                   node("QuantizeLinear", {"r", "2^-3", "zero"}, "rq"),
                   node("DequantizeLinear", {"rq", "2^-3", "zero"}, "rd")};
    const NetworkFile file = read_model(model);
    CHECK(file.network.layers[0].fixed_exponent == -6);
    CHECK(file.network.layers[1].fixed_exponent == -3);
    HostThreads threads(1);
    const auto image = convnet::network_image(file.network, "", 1, "workload.image");
    const auto made = convnet::make_model(file.network, file.weights, image, 1, 0, threads);
    CHECK(made.weights[1].exponent == -9);
    CHECK(made.weights[1].values[made.weights[1].index(3, 1, 2, 1)] ==
          model.initializers["w"].integers[((3 * 3 + 1) * 3 + 1) * 3 + 2]);
    CHECK(made.weights[1].bias[5] == 777);
    CHECK(made.network.layers[1].shift == 12);
    const CommandFolder folder{{"mine.onnx", encoded(model)}};
    const auto unused = [&](program::Type dtype) {
      convnet::Options options;
      options.dtype = dtype;
      options.network = (folder.path() / "mine.onnx").string();
      return convnet::given_of(options).unused.dump();
    };
    CHECK(unused(program::Type::i8) == "{}");
    CHECK(unused(program::Type::i16) == "{}");
    CHECK(unused(program::Type::bf16) == R"({"unused_scales":["x","nc"]})");
    CHECK(unused(program::Type::f16) == R"({"unused_scales":["nc"]})");

    model.nodes[7].inputs[1] = "2^-6";
    CHECK(message(model) ==
          "node 'nrd' (DequantizeLinear): its scale is 2^-6, allowed the scale of layer 'nc'");
    model.initializers["2^-6"].floats = {0.3F};
    CHECK(message(model) ==
          "node 'nxq' (QuantizeLinear): its scale is 0.30000001192092896, allowed powers of two");
    add_scalar(model, "2^-6", 0.25F);
    model.initializers["zero"].integers = {3};
    CHECK(message(model) == "node 'nxq' (QuantizeLinear): its zero point is 3, allowed 0");
    model.nodes[0].inputs.pop_back();
    CHECK(message(model) ==
          "node 'nxq' (QuantizeLinear): has no zero point, which means uint8, allowed one of int8");
  }

  TEST_CASE("files that are not models, or of another opset, are refused") {
    const std::string whole = encoded(base_model());
    CHECK(message_of("") == "not an ONNX model: found no graph with nodes");
    CHECK(message_of("{}") == "not an ONNX model: field 15 has the wire type 3");
    CHECK(message_of(whole.substr(0, whole.size() - 9)) ==
          "not an ONNX model: it ends inside a field");
    Model model = base_model();
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
    const auto refused = [](const std::vector<Node>& nodes, const std::string& found) {
      Model model = base_model();
      model.nodes.insert(model.nodes.end(), nodes.begin(), nodes.end());
      CHECK(message(model) == found);
    };
    refused({node("LSTM", {"c"}, "d")},
            "node 'nd' (LSTM): found an unknown operator, allowed Add, AveragePool, "
            "BatchNormalization, Clip, Concat, Conv, DequantizeLinear, Dropout, Flatten, Gemm, "
            "GlobalAveragePool, Identity, MatMul, MaxPool, Pad, QuantizeLinear, ReduceMean, Relu, "
            "Reshape, Shape, Squeeze");
    refused({node("ConstantOfShape", {"b"}, "d")},
            "node 'nd' (ConstantOfShape): computes constants from the model's constants, allowed "
            "their result: fold constants when the model is exported, or afterwards (onnxsim)");
    refused({node("Clip", {"c"}, "d", {{"max", Attribute{.number = 6}}})},
            "node 'nd' (Clip): clips below -inf and above 6, allowed only below 0: a Relu would "
            "take as many cycles as a ReLU6");
    refused({node("Relu", {"nothing"}, "d")},
            "node 'nd' (Relu): uses 'nothing', which nothing computes");
    refused({node("Add", {"c", "e"}, "d"), node("Relu", {"d"}, "e")},
            "node 'nd' (Add): uses 'e', which node 'ne' computes later: nodes must be in order of "
            "execution, without cycles");
    refused({node("Relu", {"c"}, "x")}, "node 'nx' (Relu): outputs 'x', which is defined before");
    refused({node("Add", {"c", "x"}, "d")},
            "layer 'nd': uses 'x' of 9x7x3 with 'nc' of 5x4x16, allowed equal shapes");
    refused({node("Add", {"c", "b"}, "d")},
            "node 'nd' (Add): uses the constant 'b' of the model, allowed outputs of other nodes");
    refused({node("Relu", {"c"}, "d"), node("Add", {"c", "d"}, "e")},
            "node 'nd' (Relu): uses 'c', which other nodes use too, allowed only this one");
    refused({node("Conv", {"c", "w"}, "d")},
            "layer 'nd': its weights are for 3 channels, but its input has 5x4x16");
    refused({node("Flatten", {"c"}, "d"), node("Conv", {"d", "w"}, "e")},
            "node 'ne' (Conv): follows fully connected layers or a change of shape, which are left "
            "out: allowed Add, BatchNormalization, Cast, Clip, Concat, DequantizeLinear, Dropout, "
            "Flatten, Gather, Gemm, Identity, LogSoftmax, MatMul, QuantizeLinear, Relu, Reshape, "
            "Shape, Sigmoid, Softmax, Squeeze, Tanh, Unsqueeze");
    refused({node("GlobalAveragePool", {"c"}, "d"), node("Relu", {"d"}, "e")},
            "node 'ne' (Relu): uses the output of layer 'nd', allowed a Conv, a "
            "BatchNormalization, an Add, or a MaxPool that is the only user of one of these");
  }

  TEST_CASE("attributes and weights that layers do not have are refused") {
    Model model = base_model();
    const auto refused = [&](const std::string& key, const Attribute& attribute,
                             const std::string& found) {
      Model other = model;
      other.nodes[0].attributes[key] = attribute;
      CHECK(message(other) == "node 'nc' (Conv): " + found);
    };
    refused("dilations", integers({2, 2}), "dilations: found 2, 2, allowed 1");
    refused("strides", integers({1}), "strides: found 1 numbers, allowed 2: two dimensions");
    refused("strides", integers({0, 1}), "strides: found 0, allowed 1 to 8192");
    refused("kernel_shape", integers({5, 5}), "kernel_shape: found 5x5, but W is of 3x3");
    refused("group", integer(3),
            "found 3 groups and W of 16x3x3x3, allowed 1 group, or as many groups as outputs, of 1 "
            "channel "
            "each");
    refused("auto_pad", Attribute{.text = "SAME"},
            "auto_pad: found SAME, allowed NOTSET, VALID, SAME_UPPER, SAME_LOWER");
    refused("auto_pad", Attribute{.text = "SAME_UPPER"},
            "auto_pad: found SAME_UPPER beside pads, allowed one of them");
    model.initializers["w"].type = Type::uint8;
    CHECK(message(model) == "tensor 'w': found values of uint8, allowed float, int8, int32, int64");
    add_int8(model, "w", {16, 3, 3, 3});
    CHECK(message(model) ==
          "node 'nc' (Conv): uses 'w' of int8, allowed float, or DequantizeLinear before it");
    model = base_model();
    model.initializers["w"].floats.pop_back();
    CHECK(message(model) == "tensor 'w': found 431 values, expected 432 by its extents");
    model = base_model();
    model.initializers["w"].floats[5] = INFINITY;
    CHECK(message(model) == "node 'nc' (Conv): uses 'w', which has values that are not finite");
    model = base_model();
    model.inputs[0].dims[2] = 0;
    CHECK(message(model).starts_with("input 'x': found float of 4 extents (0 x 3 x 0 x 7"));
    model.inputs.push_back(model.inputs[0]);
    CHECK(message(model) == "found 2 inputs without values in the file, allowed 1: the image");
  }
}

}  // namespace tessera::test
