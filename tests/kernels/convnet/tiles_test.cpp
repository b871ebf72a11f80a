#include <array>
#include <set>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "kernels/convnet/tiles/geometry.h"
#include "tests/cli/command.h"

/// f16 layers on tiles that exchange what they hold: every element against an independent sum in
/// double, by the kernel's check.
namespace tessera::convnet::tiles {
namespace {

using test::CommandFolder;

/// A network of these layers behind an image.
std::string network_of(const std::string& shape, const std::string& layers) {
  return fmt::format(R"({{"layers": {{"image": {{"op": "input", "shape": {}}}, {}}}}})", shape,
                     layers);
}

/// Runs a network, dividing its layer `last` as stated ("": as the planner does).
void check_network(const std::string& network, const std::string& split,
                   const std::string& machine) {
  const CommandFolder folder{{"network.json", network}};
  std::string config = fmt::format(
      R"({{"machine": {}, "run": {{"check": "full", "check_races": true}}, "workload": {{"kernel": "convnet",
          "dtype": "f16", "network": "{}"{}}}}})",
      machine, (folder.path() / "network.json").string(),
      split.empty() ? ""
                    : fmt::format(R"(, "plan": {{"layers": [{{"layer": "last", {}}}]}})", split));
  const test::Answer answer = folder.call("run - --out r --save Y=y.npy", config);
  CAPTURE(network);
  CAPTURE(split);
  CAPTURE(machine);
  CAPTURE(answer.err);
  REQUIRE(answer.code == 0);
  const test::Json report = folder.json("r/report.json");
  CHECK(report.at("check").at("passed") == true);
  CHECK(report.at("check").at("compared") > 0);
}

constexpr const char* kBow = R"({"extends": "bow", "tiles": 24})";
/// No unit; blocks of as many outputs as inputs, more outputs, and more inputs than shipped.
const std::array<std::string, 4> kUnits = {
    R"({"extends": "bow", "tiles": 24, "tile": {"matrix_unit": {"f16_f32": {"outputs": 0}}}})",
    R"({"extends": "gc2", "tiles": 24, "tile": {"matrix_unit": {"f16_f32": {"inputs": 8, "outputs": 8}}}})",
    R"({"extends": "gc2", "tiles": 24, "tile": {"matrix_unit": {"f16_f32": {"inputs": 8, "outputs": 16}}}})",
    R"({"extends": "gc2", "tiles": 24, "tile": {"matrix_unit": {"f16_f32": {"inputs": 32, "outputs": 16}}}})"};
constexpr const char* kSplits[] = {"", R"("rows": 1)", R"("rows": 2, "columns": 3, "outputs": 2)",
                                   R"("inputs": 3, "outputs": 2)",
                                   R"("rows": 3, "columns": 2, "outputs": 1, "inputs": 2)"};

constexpr const char* kFirst =
    R"("first": {"op": "convolution", "channels": 48, "kernel": 1, "relu": true})";

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("convolutions of every window are right on tiles, however they are divided") {
    for (const char* window :
         {R"("kernel": 1)", R"("kernel": 3, "pad": 1)", R"("kernel": 5, "pad": [2, 1])",
          R"("kernel": [7, 1], "pad": [3, 0])", R"("kernel": [1, 7], "pad": [0, 3], "relu": true)",
          R"("kernel": 7, "pad": 3, "stride": 2)", R"("kernel": 1, "stride": 2)",
          R"("kernel": 3, "stride": 2, "relu": true)",
          R"("kernel": 3, "stride": [1, 2], "pad": [1, 0, 0, 1])",
          R"("kernel": 3, "stride": 3, "pad": 1)"})
      for (const char* split : kSplits)
        check_network(
            network_of("[9, 11, 5]",
                       fmt::format(R"({}, "last": {{"op": "convolution", "channels": 40, {}}})",
                                   kFirst, window)),
            split, kBow);
  }

  TEST_CASE("layers of every kind are right on units of other blocks") {
    for (const std::string& unit : kUnits)
      for (const char* split : {"", R"("rows": 2, "columns": 2)"})
        for (const char* layer : {R"({"op": "convolution", "channels": 40, "kernel": 3, "pad": 1})",
                                  R"({"op": "depthwise_convolution", "kernel": 3, "pad": 1})",
                                  R"({"op": "max_pool", "kernel": 3, "stride": 2, "pad": 1})",
                                  R"({"op": "average_pool", "kernel": [3, 2]})"})
          check_network(network_of("[9, 11, 5]", fmt::format(R"({}, "last": {})", kFirst, layer)),
                        split, unit);
  }

  TEST_CASE("a larger unit takes no longer: all layers take the form of blocks that is best") {
    const std::string layers =
        fmt::format(R"({}, "last": {{"op": "convolution", "channels": 20, "kernel": 3}})", kFirst);
    const CommandFolder folder{{"network.json", network_of("[12, 12, 3]", layers)}};
    const auto run = [&](std::uint32_t inputs, std::uint32_t outputs, const std::string& plan) {
      folder.done("run - --out r --quiet --timing",
                  fmt::format(R"({{"machine": {{"extends": "bow", "tiles": 24, "tile": {{
            "matrix_unit": {{"f16_f32": {{"inputs": {}, "outputs": {}}}}}}}}},
            "workload": {{"kernel": "convnet", "dtype": "f16", "network": "{}"{}}}}})",
                              inputs, outputs, (folder.path() / "network.json").string(), plan));
      return folder.json("r/report.json");
    };
    const auto cycles = [](const test::Json& report) {
      return report.at("time").at("cycles").get<double>();
    };
    const test::Json own = run(16, 8, "");
    for (const std::uint32_t inputs : {32U, 64U, 128U})
      CHECK(cycles(run(inputs, inputs / 2, "")) <= 1.05 * cycles(own));
    const test::Json pinned = run(64, 32, R"(, "plan": {"unit": "64x32"})");
    CHECK(pinned.at("plan").at("unit") == "64x32");
    CHECK(cycles(pinned) > cycles(own));
  }

  TEST_CASE("pools, additions and what lies side by side are right on tiles") {
    const std::string second =
        R"("second": {"op": "convolution", "channels": 48, "from": "first"})";
    for (const char* last :
         {R"({"op": "max_pool", "kernel": 2, "stride": 2})",
          R"({"op": "max_pool", "kernel": 3, "stride": 2, "pad": 1})",
          R"({"op": "average_pool", "kernel": 3, "pad": 1})",
          R"({"op": "average_pool", "kernel": [9, 11]})",
          R"({"op": "average_pool", "kernel": [2, 3], "stride": 2})",
          R"({"op": "average_pool", "kernel": 1})",
          R"({"op": "depthwise_convolution", "kernel": 3, "pad": 1, "stride": 2, "relu": true})"})
      for (const char* split : {"", R"("rows": 1)", R"("outputs": 2)"})
        check_network(network_of("[9, 11, 5]", fmt::format(R"({}, "last": {})", kFirst, last)),
                      split, kBow);
    // An addition is made with the later convolution, unless that has other users or a ReLU.
    const std::string add = R"("last": {"op": "add", "from": ["first", "second"], "relu": true})";
    const std::string beside =
        R"("beside": {"op": "convolution", "channels": 48, "from": "first", "relu": true})";
    for (const std::string& layers :
         {fmt::format("{}, {}, {}", kFirst, second, add),
          fmt::format(R"({}, {}, "last": {{"op": "add", "from": ["first", "beside"]}})", kFirst,
                      beside),
          fmt::format(R"({}, {}, {}, "last": {{"op": "add", "from": ["second", "beside"]}})",
                      kFirst, second, beside),
          fmt::format(R"({}, {}, "both": {{"op": "concatenate", "from": ["second", "first"]}},
                        "last": {{"op": "convolution", "channels": 20, "kernel": 3}})",
                      kFirst, second)})
      for (const char* split : {"", R"("rows": 2, "columns": 3)", R"("rows": 1)"})
        check_network(network_of("[9, 11, 5]", layers), split, kBow);
    // Channels that fill up a pool's blocks are multiplied by what follows.
    const std::string pool = R"({"op": "max_pool", "kernel": 3, "stride": 2, "pad": 1})";
    check_network(network_of("[9, 11, 5]", fmt::format(R"("last": {})", pool)), "", kBow);
    check_network(
        network_of(
            "[9, 11, 5]",
            fmt::format(R"("pool": {}, "last": {{"op": "convolution", "channels": 16}})", pool)),
        "", kBow);
    check_network(
        network_of(
            "[9, 11, 5]",
            fmt::format(R"({}, {}, "both": {{"op": "concatenate", "from": ["second", "first"]}})",
                        kFirst, second)),
        "", kBow);
  }

  TEST_CASE("f16 layers are stages whose cycles sum up; a plan as it is printed gives the same") {
    const CommandFolder folder;
    test::Json config = {
        {"machine", {{"extends", "bow"}, {"tiles", 200}}},
        {"workload", {{"kernel", "convnet"}, {"dtype", "f16"}, {"network", "resnet8"}}}};
    folder.done("run - --out r", config.dump());
    const test::Json report = folder.json("r/report.json");
    std::uint64_t cycles = 0;
    for (const test::Json& stage : report.at("stages")) {
      cycles += stage.at("cycles").get<std::uint64_t>();
      CHECK(stage.at("compute_cycles").get<std::uint64_t>() +
                stage.at("wait_cycles").get<std::uint64_t>() ==
            stage.at("cycles"));
    }
    CHECK(cycles == report.at("time").at("cycles"));
    CHECK(report.at("stages").at("stack1_conv1").at("streams").at("exchange").at("bytes") > 0);
    config["workload"]["plan"] = report.at("plan");
    folder.done("run - --out pinned", config.dump());
    CHECK(folder.json("pinned/report.json").at("time") == report.at("time"));
  }

  TEST_CASE("layers are predicted where contexts share the pipeline, more than keep it busy") {
    const CommandFolder folder{
        {"network.json",
         network_of("[24, 24, 8]", fmt::format(R"({}, "last": {{"op": "convolution", "channels": 16,
                                                        "kernel": 3, "pad": 1}})",
                                               kFirst))}};
    for (const char* const contexts : {"3", "11", "24"}) {
      folder.done("run - --timing --out r --set machine.tile.contexts=" + std::string(contexts),
                  R"({"machine": {"extends": "upmem", "tiles": 4},
              "workload": {"kernel": "convnet", "dtype": "f16", "network": "network.json"}})");
      const test::Json report = folder.json("r/report.json");
      const double predicted = report.at("prediction").at("cycles").get<double>();
      CHECK(report.at("time").at("cycles").get<double>() ==
            doctest::Approx(predicted).epsilon(0.05));
    }
  }

  TEST_CASE("networks that tiles have no layout for are refused by their layer's name") {
    const CommandFolder folder;
    const auto refused = [&](const std::string& shape, const std::string& layers,
                             const std::string& message) {
      folder.write("network.json", network_of(shape, layers));
      folder.write(
          "run.json",
          R"({"machine": "bow", "workload": {"kernel": "convnet", "dtype": "f16", "network": "network.json"}})");
      check_refused(folder, "run run.json --out r", {message});
    };
    refused(
        "[4, 4, 16]",
        R"("a": {"op": "convolution", "channels": 24}, "b": {"op": "convolution", "channels": 16, "from": "image"},
               "c": {"op": "concatenate", "from": ["a", "b"]}, "d": {"op": "convolution", "channels": 8})",
        "workload.network: found 24 channels of layer 'a', allowed a multiple of 16 where layer "
        "'c' concatenates them, with dtype f16 on this machine");
    refused(
        "[4, 4, 16]",
        R"("a": {"op": "convolution", "channels": 16}, "b": {"op": "add", "from": ["image", "a"]})",
        "workload.network: layer 'b': found the image beside other tensors, allowed the image "
        "alone with dtype f16");
  }
}

TEST_SUITE("unit") {
  TEST_CASE(
      "workers' runs have every position of a tile once, none beyond a row but between rows") {
    const BlockShape block{kernels::Type::f16, kernels::Type::f32, 16, 8, 4, 1, 2, 4};
    LayerShape shape;
    shape.operands = {std::vector<Source>(3)};
    for (std::uint32_t height = 1; height < 15; ++height)
      for (std::uint32_t width = 1; width < 15; ++width)
        for (const std::uint32_t window : {1U, 3U})
          for (const std::uint32_t workers : {1U, 6U, 8U}) {
            shape.output = {height, width, 32};
            shape.window.height = shape.window.width = window;
            const Geometry g(shape, block, {}, {0, 1});
            const std::uint64_t pitch = g.pitch({});
            std::set<std::uint64_t> seen;
            for (const Positions& run : g.runs({}, workers))
              for (std::uint64_t at = run.begin; at < run.end; ++at) CHECK(seen.insert(at).second);
            for (std::uint64_t row = 0; row < height; ++row)
              for (std::uint64_t column = 0; column < width; ++column)
                CHECK(seen.contains(row * pitch + column));
            CHECK(*seen.rbegin() + 1 == g.positions({}));
          }
  }

  TEST_CASE("tiles and cells name each other, and every group has one finisher") {
    const BlockShape block{kernels::Type::f16, kernels::Type::f32, 16, 8, 4, 1, 2, 4};
    LayerShape shape;
    shape.operands = {std::vector<Source>(5)};
    shape.output = {7, 9, 100};
    const Geometry g(shape, block, {2, 3, 4, 2}, {40, 60});
    std::uint64_t finished = 0;
    for (Tile tile = 0; tile < 60; ++tile) {
      if (!g.works(tile)) continue;
      const Cell cell = g.cell(tile);
      CHECK(g.tile(cell) == tile);
      for (std::uint64_t group = g.share(cell).begin; group < g.share(cell).end; ++group)
        CHECK(g.tile(g.finisher(cell.row, cell.column, group)) == tile);
      finished += g.rows(cell).size() * g.columns(cell).size() * g.share(cell).size();
    }
    CHECK(finished == 7 * 9 * 7);
  }
}

}  // namespace tessera::convnet::tiles
