#include "sim/data/nir_network.h"

#include <cmath>

#include <doctest/doctest.h>

#include "tests/refusal.h"

using namespace tessera::data;

namespace {

NirParameter numbers(std::vector<std::uint64_t> shape, std::vector<double> values) {
  return {std::move(shape), std::move(values), {}};
}
NirParameter number(double value) { return numbers({}, {value}); }

NirNode neurons(std::size_t count) {
  const auto all = [count](double value) {
    return numbers({count}, std::vector<double>(count, value));
  };
  return {"LIF", {{"tau", all(0.01)}, {"r", all(1)}, {"v_leak", all(0)}, {"v_threshold", all(1)}}};
}
NirNode linear(std::uint64_t rows, std::uint64_t columns, double first) {
  NirParameter weight{{rows, columns}, {}, {}};
  for (std::uint64_t i = 0; i < rows * columns; ++i)
    weight.values.push_back(first + static_cast<double>(i));
  return {"Linear", {{"weight", weight}}};
}
NirNode input(const std::vector<double>& shape) {
  return {"Input", {{"shape", numbers({shape.size()}, shape)}}};
}

double weight(const LinearMap& map, std::size_t row, std::uint32_t column) {
  for (const Term& term : map.rows.at(row))
    if (term.input == column) return term.weight;
  return 0;
}

std::string message(const NirGraph& graph) {
  return tessera::test::refusal([&] { return nir_network(graph, "a.nir"); });
}

/// A convolution's sum over its window, from the definition.
double convolved(const NirNode& node, const std::vector<double>& image, const Shape& shape,
                 std::size_t filter, long y, long x, long stride, long padding, long dilation) {
  const NirParameter& weight = node.parameters.at("weight");
  const auto depth = static_cast<long>(weight.shape[1]);
  const auto groups = static_cast<long>(shape[0]) / depth;
  const auto height = static_cast<long>(shape[1]), width = static_cast<long>(shape[2]);
  const long group = static_cast<long>(filter) / (static_cast<long>(weight.shape[0]) / groups);
  double total = node.parameters.at("bias").values[filter];
  std::size_t at = filter * weight.shape[1] * weight.shape[2] * weight.shape[3];
  for (long channel = group * depth; channel < (group + 1) * depth; ++channel) {
    for (long i = 0; i < static_cast<long>(weight.shape[2]); ++i) {
      for (long j = 0; j < static_cast<long>(weight.shape[3]); ++j, ++at) {
        const long row = y * stride + i * dilation - padding;
        const long column = x * stride + j * dilation - padding;
        if (row < 0 || row >= height || column < 0 || column >= width) continue;
        total += weight.values[at] *
                 image[static_cast<std::size_t>((channel * height + row) * width + column)];
      }
    }
  }
  return total;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("layers of a NIR graph become populations and the products between them") {
    NirGraph graph;
    graph.nodes = {{"in", input({3})},       {"w1", linear(2, 3, 1)}, {"a", neurons(2)},
                   {"w2", linear(4, 2, 10)}, {"b", neurons(4)},       {"out", {"Output", {}}}};
    graph.edges = {{"in", "w1"}, {"w1", "a"}, {"a", "w2"}, {"w2", "b"}, {"b", "out"}};
    const NirNetwork network = nir_network(graph, "a.nir");
    CHECK(network.inputs == 3);
    REQUIRE(network.populations.size() == 2);
    const NirPopulation& a = network.populations[0];
    CHECK(a.name == "a");
    CHECK(a.neurons() == 2);
    CHECK(a.parameters.at("v_reset") == std::vector<double>{0, 0});
    REQUIRE(a.inputs.size() == 1);
    CHECK_FALSE(a.inputs[0].from.has_value());
    CHECK(weight(*a.inputs[0].weights, 1, 2) == 6);
    REQUIRE(network.populations[1].inputs.size() == 1);
    CHECK(network.populations[1].inputs[0].from == 0U);
    CHECK(weight(*network.populations[1].inputs[0].weights, 3, 0) == 16);
    CHECK(network.outputs == std::vector<std::size_t>{1});
  }

  TEST_CASE("recurrent weights and neurons wired to neurons are inputs of populations") {
    NirGraph graph;
    graph.nodes = {{"in", input({2})},
                   {"a", neurons(2)},
                   {"w_rec", linear(2, 2, 5)},
                   {"b", neurons(2)},
                   {"out", {"Output", {}}}};
    graph.edges = {{"in", "a"}, {"a", "w_rec"}, {"w_rec", "a"}, {"a", "b"}, {"b", "out"}};
    const NirNetwork network = nir_network(graph, "a.nir");
    const NirPopulation& a = network.populations[0];
    REQUIRE(a.inputs.size() == 2);
    CHECK(a.inputs[1].from == 0U);
    CHECK(weight(*a.inputs[1].weights, 1, 0) == 7);
    REQUIRE(network.populations[1].inputs.size() == 1);
    CHECK(weight(*network.populations[1].inputs[0].weights, 1, 1) == 1);
  }

  TEST_CASE("convolutions, pooling and flattening between populations are one product") {
    const Shape image{4, 6, 5};
    NirNode convolution{"Conv2d",
                        {{"weight", numbers({6, 2, 3, 2}, {})},
                         {"bias", numbers({6}, {1, 2, 3, 4, 5, 6})},
                         {"groups", number(2)}}};
    for (int i = 0; i < 6 * 2 * 3 * 2; ++i)
      convolution.parameters.at("weight").values.push_back(std::sin(i));
    long stride = 1, padding = 0, dilation = 1;
    SUBCASE("plain") {}
    SUBCASE("strided and padded") {
      stride = 2;
      padding = 1;
    }
    SUBCASE("dilated") {
      dilation = 2;
      padding = 2;
    }
    convolution.parameters["stride"] = number(static_cast<double>(stride));
    convolution.parameters["padding"] =
        numbers({2}, {static_cast<double>(padding), static_cast<double>(padding)});
    convolution.parameters["dilation"] = number(static_cast<double>(dilation));
    const LinearNode made = linear_node(convolution, image, "c");
    const long rows = (6 + 2 * padding - 2 * dilation - 1) / stride + 1;
    const long columns = (5 + 2 * padding - dilation - 1) / stride + 1;
    REQUIRE(made.map.shape ==
            Shape{6, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns)});
    std::vector<double> pixels(std::size_t{4} * 6 * 5);
    for (std::size_t i = 0; i < pixels.size(); ++i)
      pixels[i] = std::cos(3 * static_cast<double>(i));
    std::size_t at = 0;
    for (std::size_t filter = 0; filter < 6; ++filter) {
      for (long y = 0; y < rows; ++y) {
        for (long x = 0; x < columns; ++x, ++at) {
          double total = made.constant[at];
          for (const Term& term : made.map.rows[at]) total += term.weight * pixels[term.input];
          CHECK(total == doctest::Approx(convolved(convolution, pixels, image, filter, y, x, stride,
                                                   padding, dilation)));
        }
      }
    }
  }

  TEST_CASE("a convolution padded to the same size and sums over windows") {
    NirNode same{"Conv1d",
                 {{"weight", numbers({1, 1, 4}, {1, 2, 3, 4})},
                  {"bias", number(0)},
                  {"groups", number(1)},
                  {"stride", number(1)},
                  {"dilation", number(1)},
                  {"padding", {{}, {}, "same"}}}};
    const LinearMap map = linear_node(same, {1, 5}, "c").map;
    CHECK(map.shape == Shape{1, 5});
    CHECK(weight(map, 0, 0) == 2);  // one element of padding before, two after
    CHECK(weight(map, 0, 2) == 4);
    CHECK(weight(map, 4, 4) == 2);
    const NirParameter two = numbers({2}, {2, 2});
    NirNode pool{"SumPool2d",
                 {{"kernel_size", two}, {"stride", two}, {"padding", numbers({2}, {0, 0})}}};
    const LinearMap sums = linear_node(pool, {2, 4, 4}, "p").map;
    CHECK(sums.shape == Shape{2, 2, 2});
    CHECK(sums.rows[5].size() == 4);
    CHECK(weight(sums, 5, 16 + 7) == 1);
    pool.type = "AvgPool2d";
    CHECK(weight(linear_node(pool, {2, 4, 4}, "p").map, 5, 16 + 7) == 0.25);
  }

  TEST_CASE("constants pass through what stands behind them") {
    NirGraph graph;
    NirNode affine = linear(2, 1, 1);
    affine.type = "Affine";
    affine.parameters["bias"] = numbers({2}, {10, 20});
    graph.nodes = {{"in", input({1})},
                   {"affine", affine},
                   {"scale", {"Scale", {{"scale", numbers({2}, {2, 3})}}}},
                   {"a", neurons(2)},
                   {"out", {"Output", {}}}};
    graph.edges = {{"in", "affine"}, {"affine", "scale"}, {"scale", "a"}, {"a", "out"}};
    const NirNetwork network = nir_network(graph, "a.nir");
    CHECK(network.populations[0].constant == std::vector<double>{20, 60});
    CHECK(weight(*network.populations[0].inputs[0].weights, 1, 0) == 6);
  }

  TEST_CASE("weights are a population's own where one Linear or Affine makes them and acts once") {
    NirGraph graph;
    graph.nodes = {{"in", input({2})}, {"flat", {"Flatten", {}}},  {"w", linear(2, 2, 1)},
                   {"a", neurons(2)},  {"w_rec", linear(2, 2, 5)}, {"out", {"Output", {}}}};
    graph.edges = {{"in", "flat"}, {"flat", "w"},  {"w", "a"},
                   {"a", "w_rec"}, {"w_rec", "a"}, {"a", "out"}};
    const auto own = [&](std::size_t i) {
      return nir_network(graph, "a.nir").populations[0].inputs.at(i).own;
    };
    const auto nodes = [&](std::size_t i) {
      return nir_network(graph, "a.nir").populations[0].inputs.at(i).nodes;
    };
    using Names = std::vector<std::string>;
    REQUIRE(own(0));
    REQUIRE(own(1));
    CHECK(nodes(0) == Names{"'w' (Linear)"});
    SUBCASE("a factor beside it") {
      graph.nodes["scale"] = {"Scale", {{"scale", numbers({2}, {2, 3})}}};
      graph.edges[0] = {"in", "scale"};
      graph.edges.emplace_back("scale", "flat");
      CHECK_FALSE(own(0));
      CHECK(nodes(0) == Names{"'scale' (Scale)", "'w' (Linear)"});
      CHECK(own(1));
    }
    SUBCASE("two products, one behind the other") {
      graph.nodes["w2"] = linear(2, 2, 1);
      graph.edges[2] = {"w", "w2"};
      graph.edges.emplace_back("w2", "a");
      CHECK_FALSE(own(0));
    }
    SUBCASE("two products, side by side") {
      graph.nodes["w2"] = linear(2, 2, 1);
      graph.edges.insert(graph.edges.end(), {{"in", "w2"}, {"w2", "a"}});
      CHECK_FALSE(own(0));
    }
    SUBCASE("a path beside it") {
      graph.edges.emplace_back("in", "w");
      CHECK_FALSE(own(0));
    }
    SUBCASE("one product for the input and for recurrence") {
      graph.nodes.erase("w_rec");
      graph.edges[3] = {"a", "w"};
      graph.edges.erase(graph.edges.begin() + 4);
      CHECK_FALSE(own(0));
      CHECK_FALSE(own(1));
    }
    SUBCASE("no weights") {
      graph.edges[2] = {"flat", "a"};
      graph.edges[1] = {"a", "out"};
      graph.nodes.erase("w");
      CHECK_FALSE(own(0));
      CHECK(nodes(0).empty());
    }
    SUBCASE("fixed weights") {
      graph.nodes["w"] = {"Scale", {{"scale", numbers({2}, {2, 3})}}};
      CHECK_FALSE(own(0));
    }
  }

  TEST_CASE("unsupported nodes, and those that do not fit, are named") {
    NirGraph graph;
    graph.nodes = {
        {"in", input({2})}, {"w", linear(2, 2, 1)}, {"a", neurons(2)}, {"out", {"Output", {}}}};
    graph.edges = {{"in", "w"}, {"w", "a"}, {"a", "out"}};
    REQUIRE(message(graph) == "");
    const auto refused = [&](const std::string& expected, void (*change)(NirGraph&)) {
      NirGraph changed = graph;
      change(changed);
      CHECK(message(changed) == "a.nir: " + expected);
    };
    refused(
        "node 'w' (Delay): nodes of this type are not supported, but Affine, AvgPool2d, Conv1d, "
        "Conv2d, CubaLIF, Flatten, IF, Input, LI, LIF, Linear, Output, Scale, SumPool2d",
        [](NirGraph& g) { g.nodes["w"].type = "Delay"; });
    refused(
        "node 'a' (LIF): delay: found, which nothing reads, allowed tau, r, v_leak, v_threshold, "
        "v_reset",
        [](NirGraph& g) { g.nodes["a"].parameters["delay"] = number(1); });
    refused("node 'w' (Linear): lies on a cycle of nodes without delay, or behind one: w, w2",
            [](NirGraph& g) {
              g.nodes["w2"] = linear(2, 2, 1);
              g.edges.insert(g.edges.end(), {{"w", "w2"}, {"w2", "w"}});
            });
    refused("node 'w' (Linear): weight: found the shape [2, 3], allowed [n, 2]",
            [](NirGraph& g) { g.nodes["w"] = linear(2, 3, 1); });
    refused("node 'a' (LIF): tau: found 3 numbers for 2 neurons",
            [](NirGraph& g) { g.nodes["a"] = neurons(3); });
    refused("node 'a' (LIF): v_threshold: found nan, allowed finite numbers",
            [](NirGraph& g) { g.nodes["a"].parameters["v_threshold"].values[1] = NAN; });
    refused("node 'a' (LIF): tau: found 0, allowed above 0",
            [](NirGraph& g) { g.nodes["a"].parameters["tau"].values[1] = 0; });
    refused("node 'out' (Output): shows 'w' (Linear), expected neurons", [](NirGraph& g) {
      g.edges[2] = {"w", "out"};
    });
    refused("found no Input node", [](NirGraph& g) {
      g.nodes.erase("in");
      g.edges.erase(g.edges.begin());
    });
    refused("node 'b' (LIF): the Input does not reach it",
            [](NirGraph& g) { g.nodes["b"] = neurons(2); });
    refused("node 'a' (LIF): takes 2 numbers, but 'w2' gives 3", [](NirGraph& g) {
      g.nodes["w2"] = linear(3, 2, 1);
      g.edges.insert(g.edges.end(), {{"in", "w2"}, {"w2", "a"}});
    });
    // Sizes whose product exceeds 64 bits.
    graph.nodes["in"] = input({1, 4, 4});
    graph.nodes["w"] = {
        "SumPool2d",
        {{"kernel_size", number(65536)}, {"padding", number(65535)}, {"stride", number(1)}}};
    refused("node 'w' (SumPool2d): gives [1, 65539, 65539] numbers, allowed 4194304 in all",
            [](NirGraph&) {});
    refused(
        "node 'w' (SumPool2d): found 4294967296 connections to each of 4 numbers, allowed 67108864 "
        "in all",
        [](NirGraph& g) { g.nodes["w"].parameters["stride"] = number(65536); });
    // More values between nodes than fit in memory.
    graph.nodes["in"] = input({1, 2048, 2048});
    graph.nodes["w"] = {"Conv2d",
                        {{"weight", numbers({2, 1, 1, 1}, {1, 1})},
                         {"bias", number(0)},
                         {"stride", number(1)},
                         {"padding", number(0)},
                         {"dilation", number(1)},
                         {"groups", number(1)}}};
    refused("node 'w' (Conv2d): gives [2, 2048, 2048] numbers, allowed 4194304 in all",
            [](NirGraph&) {});
    refused("node 'in' (Input): found inputs of shape [4096, 4096, 4096], allowed 4194304 in all",
            [](NirGraph& g) {
              g.nodes["in"] = input({4096, 4096, 4096});
            });
  }
}
