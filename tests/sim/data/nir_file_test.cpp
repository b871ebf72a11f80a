#include "sim/data/nir_file.h"

#include <doctest/doctest.h>

#include "sim/base/errors.h"
#include "sim/base/splitmix.h"
#include "tests/cli/command.h"
#include "tests/refusal.h"
#include "tests/sim/data/nir_writer.h"

using tessera::UserError;
using tessera::data::NirGraph;
using tessera::data::NirNode;
using tessera::data::read_nir;
using namespace tessera::test;

namespace {

NirItem node(std::string name, std::string type,
             std::map<std::string, tessera::data::NirParameter> parameters = {}) {
  return {std::move(name), NirNode{std::move(type), std::move(parameters)}};
}

/// input -> weights -> output
NirItem small() {
  NirItem graph{"", {}};
  graph.nodes = {node("input", "Input", {{"shape", nir_numbers({1}, {3})}}),
                 node("weights", "Linear", {{"weight", nir_numbers({2, 3}, {1, 2, 3, 4, 5, 6})}}),
                 node("output", "Output", {{"shape", nir_numbers({1}, {2})}})};
  graph.edges = {{"weights", "output"}, {"input", "weights"}};
  return graph;
}

std::string message(const CommandFolder& folder, const NirItem& graph) {
  write_nir(folder.path() / "a.nir", graph);
  return test::refusal([&] { return read_nir(folder.path() / "a.nir"); });
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a NIR file gives its nodes, their parameters and sorted edges") {
    const CommandFolder folder;
    NirItem written = small();
    written.nodes.push_back(
        node("convolution", "Conv2d",
             {{"padding", {{}, {}, "same"}}, {"groups", nir_numbers({}, {1})}}));
    write_nir(folder.path() / "a.nir", written);
    const NirGraph graph = read_nir(folder.path() / "a.nir");
    REQUIRE(graph.nodes.size() == 4);
    const NirNode& weights = graph.nodes.at("weights");
    CHECK(weights.type == "Linear");
    CHECK(weights.parameters.at("weight").shape == std::vector<std::uint64_t>{2, 3});
    CHECK(weights.parameters.at("weight").values == std::vector<double>{1, 2, 3, 4, 5, 6});
    CHECK(graph.nodes.at("convolution").parameters.at("padding").text == "same");
    CHECK(graph.nodes.at("convolution").parameters.at("groups").shape.empty());
    REQUIRE(graph.edges.size() == 2);
    CHECK(graph.edges[0] == std::pair<std::string, std::string>{"input", "weights"});
    CHECK(graph.edges[1] == std::pair<std::string, std::string>{"weights", "output"});
  }

  TEST_CASE(
      "a graph inside a NIR graph is flattened, its connections end at its own in- and output") {
    const CommandFolder folder;
    NirItem inner = small();
    inner.name = "block";
    NirItem outer{"", {}};
    outer.nodes = {node("a", "Input"), inner, node("b", "Output")};
    outer.edges = {{"a", "block"}, {"block", "b"}};
    write_nir(folder.path() / "a.nir", outer);
    const NirGraph graph = read_nir(folder.path() / "a.nir");
    CHECK(graph.nodes.size() == 5);
    CHECK(graph.nodes.at("block.weights").type == "Linear");
    const std::vector<std::pair<std::string, std::string>> expected{
        {"a", "block.input"},
        {"block.input", "block.weights"},
        {"block.output", "b"},
        {"block.weights", "block.output"}};
    CHECK(graph.edges == expected);
  }

  TEST_CASE("each mistake in a NIR file has its message, with file and place") {
    const CommandFolder folder;
    const std::string file = (folder.path() / "a.nir").string();
    SUBCASE("no HDF5") {
      folder.write("a.nir", "not HDF5");
      CHECK_THROWS_WITH_AS(read_nir(file), doctest::Contains("a.nir: no HDF5 file"), UserError);
    }
    SUBCASE("missing") {
      CHECK_THROWS_WITH_AS(read_nir(folder.path() / "b.nir"), doctest::Contains("b.nir"),
                           UserError);
    }
    SUBCASE("cut short") {
      write_nir(file, small());
      const std::string whole = folder.read("a.nir");
      for (const std::size_t part : {whole.size() / 4, whole.size() / 2, whole.size() - 1}) {
        folder.write("a.nir", whole.substr(0, part));
        CHECK_THROWS_AS(read_nir(file), UserError);
      }
    }
    SUBCASE("numbers that the file does not store") {
      NirItem graph = small();
      graph.nodes.push_back(node("far", "Linear", {{"weight", nir_numbers({1U << 25U, 1}, {})}}));
      CHECK(message(folder, graph) ==
            file +
                ": /node/nodes/far/weight: found 33554432 elements of which the file stores 0 "
                "bytes");
      graph.nodes.back().node.parameters["weight"].shape = {1ULL << 40U, 1ULL << 40U};
      CHECK(message(folder, graph) ==
            file +
                ": /node/nodes/far/weight: with it the file holds more than 67108864 numbers "
                "and bytes of text");
    }
    SUBCASE("any byte changed") {
      write_nir(file, small());
      const std::string whole = folder.read("a.nir");
      for (std::uint64_t i = 0; i < 60; ++i) {
        std::string damaged = whole;
        const auto change = static_cast<char>(1 + tessera::splitmix64(2, i) % 255);
        char& byte = damaged[tessera::splitmix64(1, i) % whole.size()];
        byte = static_cast<char>(byte ^ change);
        folder.write("a.nir", damaged);
        try {
          CHECK(read_nir(file).nodes.size() <= 3);
        } catch (const UserError& error) {
          CHECK(std::string(error.what()).starts_with(file));
        }
      }
    }
    SUBCASE("an edge to nowhere") {
      NirItem graph = small();
      graph.edges.emplace_back("weights", "outptu");
      CHECK(message(folder, graph) ==
            file +
                ": /node/edges: 'outptu' is neither a node nor a graph with one Input; nodes: "
                "input, output, weights");
    }
  }
}
