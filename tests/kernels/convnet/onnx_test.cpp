#include <cmath>

#include <doctest/doctest.h>

#include "kernels/convnet/network_image.h"
#include "tests/cli/command.h"
#include "tests/kernels/convnet/onnx_models.h"
#include "tests/kernels/convnet/real_network.h"

using namespace tessera;
using convnet::NetworkFile;
using test::add_floats;
using test::add_int8;
using test::add_scalar;
using test::base_model;
using test::integer;
using test::integers;
using test::message;
using test::Names;
using test::Node;
using test::node;
using test::read_model;
using test::Type;
using test::with;

TEST_SUITE("unit") {
  TEST_CASE("a convolution is read with its weights, channels last") {
    test::Model model = with(base_model(), node("Relu", {"c"}, "r"));
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

  TEST_CASE("normalisations become part of their convolution") {
    test::Model model = base_model();
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
  }

  TEST_CASE("all operators make a network that runs, the fully connected end is left out") {
    test::Model model = with(base_model(), node("Relu", {"c"}, "r"));
    add_floats(model, "w2", {16, 16, 1, 1});
    add_floats(model, "w3", {16, 1, 3, 3});
    model.nodes.push_back(node("Conv", {"r", "w2"}, "d"));
    model.nodes.push_back(node("Add", {"d", "r"}, "a"));
    model.nodes.push_back(node("Relu", {"a"}, "ar"));
    Node depthwise = node("Conv", {"ar", "w3"}, "e");
    depthwise.attributes["group"] = integer(16);
    depthwise.attributes["pads"] = integers({1, 1, 1, 1});
    model.nodes.push_back(depthwise);
    Node pool = node("MaxPool", {"r"}, "p");
    pool.attributes["kernel_shape"] = integers({3, 3});
    pool.attributes["pads"] = integers({1, 1, 1, 1});
    model.nodes.push_back(pool);
    Node mean = pool;
    mean.type = "AveragePool";
    mean.name = "nq";
    mean.outputs = {"q"};
    mean.attributes["count_include_pad"] = integer(1);
    model.nodes.push_back(mean);
    Node joined = node("Concat", {"e", "p", "q"}, "j");
    joined.attributes["axis"] = integer(1);
    model.nodes.push_back(joined);
    model.nodes.push_back(node("Dropout", {"j"}, "jd"));
    model.nodes.push_back(node("GlobalAveragePool", {"jd"}, "g"));
    model.nodes.push_back(node("Flatten", {"g"}, "f"));
    add_floats(model, "w4", {10, 48});
    model.nodes.push_back(node("Gemm", {"f", "w4"}, "y"));
    model.outputs = {"y"};
    const test::CommandFolder folder{{"mine.onnx", test::encoded(model)}};
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
    HostThreads threads(1);
    const auto image = convnet::network_image(file.network, "", 1, "workload.image");
    const auto made = convnet::make_model(file.network, file.weights, image, 1, 0, threads);
    const auto out = convnet::forward(made.network, made.weights, made.image, threads);
    const auto real = convnet::forward_real(
        made.network, made.weights, convnet::real_values(image.tensor, image.exponent), threads);
    const int exponent = made.network.layers.back().exponent;
    double largest = 0;
    for (const double value : real.back().values) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < 48; ++i)
      CHECK(std::abs(std::ldexp(out.back().values[i], exponent) - real.back().values[i]) <
            0.05 * largest);
  }

  TEST_CASE("zeros of a Pad become the padding of an average or a convolution") {
    test::Model model = base_model();
    model.initializers["pads"] = {
        "pads", {8}, Type::int64, false, {}, {}, {0, 0, 1, 2, 0, 0, 0, 1}};
    model.nodes.push_back(node("Pad", {"c", "pads"}, "d"));
    Node mean = node("AveragePool", {"d"}, "e");
    mean.attributes["kernel_shape"] = integers({3, 3});
    model.nodes.push_back(mean);
    const convnet::Layer layer = read_model(model).network.layers.at(2);
    CHECK(layer.window == convnet::Window{3, 3, 1, 1, 1, 2, 0, 1});
    CHECK(layer.inputs == std::vector<std::uint32_t>{1});
    model.nodes.back().type = "MaxPool";
    CHECK(message(model) ==
          "node 'ne' (MaxPool): takes what a Pad gives, allowed for Conv, AveragePool");
    model.initializers["pads"].integers[1] = 1;
    CHECK(message(model) ==
          "node 'nd' (Pad): pads: found 0, 1, 1, 2, 0, 0, 0, 1, allowed 0, 0, top, left, 0, 0, "
          "bottom, right, up to 8192");
    model.nodes[1].attributes["mode"].text = "reflect";
    CHECK(message(model) == "node 'nd' (Pad): mode: found reflect, allowed constant");
  }

  TEST_CASE("quantised models fix exponents and keep their int8 weights") {
    test::Model model = base_model();
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

    model.nodes[7].inputs[1] = "2^-6";
    CHECK(message(model) ==
          "node 'nrd' (DequantizeLinear): its scale is 2^-6, allowed that by which layer 'nc' was "
          "quantised");
    model.initializers["2^-6"].floats = {0.3F};
    CHECK(message(model) ==
          "node 'nxq' (QuantizeLinear): its scale is 0.30000001192092896, allowed powers of two");
    add_scalar(model, "2^-6", 0.25F);
    model.initializers["zero"].integers = {3};
    CHECK(message(model) == "node 'nxq' (QuantizeLinear): its zero point is 3, allowed 0");
    model.nodes[0].inputs.pop_back();
    CHECK(message(model) ==
          "node 'nxq' (QuantizeLinear): has no zero point and makes uint8 therefore, allowed one "
          "of int8");
  }
}
