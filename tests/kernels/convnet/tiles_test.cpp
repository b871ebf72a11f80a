#include <set>

#include <doctest/doctest.h>

#include "kernels/convnet/tiles/geometry.h"
#include "tests/cli/command.h"

/// f16 layers on tiles that exchange what they hold.
namespace tessera::convnet::tiles {
namespace {

using test::CommandFolder;

}  // namespace

TEST_SUITE("run") {
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

  TEST_CASE("a larger unit takes no longer: all layers take the form of blocks that is best") {
    const CommandFolder folder{{"network.json", R"({"layers": {
      "image": {"op": "input", "shape": [12, 12, 3]},
      "first": {"op": "convolution", "channels": 48, "kernel": 1, "relu": true},
      "last": {"op": "convolution", "channels": 20, "kernel": 3}}})"}};
    const auto run = [&](std::uint32_t inputs, const test::Json& plan) {
      test::Json config = {
          {"machine", {{"extends", "bow"}, {"tiles", 24}}},
          {"workload", {{"kernel", "convnet"}, {"dtype", "f16"}, {"network", "network.json"}}}};
      config["machine"]["tile"]["matrix_unit"]["f16_f32"] = {{"inputs", inputs},
                                                             {"outputs", inputs / 2}};
      if (!plan.is_null()) config["workload"]["plan"] = plan;
      folder.done("run - --out r --quiet --timing", config.dump());
      const test::Json report = folder.json("r/report.json");
      if (!plan.is_null()) CHECK(report.at("plan").at("unit") == plan.at("unit"));
      return report.at("time").at("cycles").get<double>();
    };
    const double own = run(16, {});
    for (const std::uint32_t inputs : {32U, 64U, 128U}) CHECK(run(inputs, {}) <= 1.05 * own);
    CHECK(run(64, {{"unit", "64x32"}}) > own);
  }

  TEST_CASE("layers are predicted where contexts share the pipeline, more than keep it busy") {
    const CommandFolder folder{{"network.json", R"({"layers": {
      "image": {"op": "input", "shape": [24, 24, 8]},
      "first": {"op": "convolution", "channels": 48, "kernel": 1, "relu": true},
      "last": {"op": "convolution", "channels": 16, "kernel": 3, "pad": 1}}})"}};
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
}

TEST_SUITE("unit") {
  TEST_CASE(
      "workers' runs have every position of a tile once, none beyond a row but between rows") {
    const BlockShape block{kernels::Type::f16, kernels::Type::f32, 16, 8, 4, 2, 4};
    LayerShape shape{.operands = {std::vector<Source>(3)}};
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
    const BlockShape block{kernels::Type::f16, kernels::Type::f32, 16, 8, 4, 2, 4};
    LayerShape shape{.output = {7, 9, 100}, .operands = {std::vector<Source>(5)}};
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
