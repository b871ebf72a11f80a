#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/cli/drawn.h"

using namespace tessera;

/// What reports say of a network's layers.
namespace {

constexpr const char* kConfig =
    R"({"machine": "aie2_2x2", "workload": {"kernel": "convnet", "network": "resnet8"}})";

nlohmann::json stages_of(const test::CommandFolder& folder, const std::string& options) {
  folder.done("run - --out r " + options, kConfig);
  return nlohmann::json::parse(folder.read("r/report.json"));
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("stages of a network are its layers, whose cycles sum to the run's") {
    const test::CommandFolder folder;
    for (const char* options : {"", "--set workload.plan.rules=published"}) {
      const nlohmann::json report = stages_of(folder, options);
      const nlohmann::json& stages = report.at("stages");
      CHECK(stages.contains("stack1_conv1"));
      std::uint64_t cycles = 0;
      for (const nlohmann::json& stage : stages) {
        cycles += stage.at("cycles").get<std::uint64_t>();
        const auto computing = stage.at("compute_cycles").get<std::uint64_t>();
        CHECK(computing <= stage.at("cycles").get<std::uint64_t>() + 1);
      }
      // The image and the result, side by side in columns of the array, at 4 GiB/s.
      const std::uint64_t image = 8 * 32 * 32, result = 64;
      CHECK(stages.at("load").at("cycles").get<double>() > image / 2 / 4.294967296);
      CHECK(stages.at("store").at("cycles").get<double>() > result / 4.294967296);
      CHECK(stages.at("load").at("streams").at("load").at("bytes") == image);
      const nlohmann::json& predicted = report.at("workload").at("predicted_layers");
      for (const auto& [name, layer] :
           {std::pair("load", predicted.front()), std::pair("store", predicted.back())}) {
        CHECK(layer.at("layer") == name);
        CHECK(stages.at(name).at("cycles").get<double>() ==
              doctest::Approx(layer.at("cycles").get<double>()).epsilon(0.1));
      }
      CHECK(cycles <= report.at("time").at("cycles").get<std::uint64_t>());
      CHECK(cycles > 0.98 * report.at("time").at("cycles").get<double>());
      // 16 channels of 32 x 32, an int8 each.
      CHECK(stages.at("stack1_conv1").at("streams").at("results").at("bytes") == 16384);
    }
  }

  TEST_CASE("published rules bring weights in their layer, and rows of the published buffers") {
    const test::CommandFolder folder;
    const nlohmann::json report = stages_of(folder, "--set workload.plan.rules=published");
    CHECK(report.at("plan").at("rules") == "published");
    for (const nlohmann::json& layer : report.at("plan").at("layers")) CHECK(!layer.at("adds"));
    const nlohmann::json& stages = report.at("stages");
    CHECK(!stages.at("load").at("streams").contains("load_weights"));
    // 16 inputs, 16 outputs, 3 x 3, with biases and numbers of blocks, for either row of cores.
    CHECK(stages.at("stack1_conv1").at("streams").at("load_weights").at("bytes") ==
          2 * (1152 + 64));
  }

  TEST_CASE("stages are drawn; a run without is refused") {
    const test::CommandFolder folder;
    static_cast<void>(stages_of(folder, ""));
    if (test::has_gnuplot()) folder.done("plot r --kind stages --out f --format svg");
    REQUIRE(folder
                .call("run - --out g",
                      R"({"machine": {"extends": "bow", "tiles": 4}, "workload": {"kernel":
                           "gemm", "m": 8, "k": 8, "n": 8}})")
                .code == 0);
    test::check_refused(
        folder, "plot g --kind stages --out f",
        {"g/report.json: found no stages, expected a run on a machine whose fabric is"});
  }
  TEST_CASE("stages stand beside supersteps where tiles take these together, else for them") {
    const test::CommandFolder folder;
    REQUIRE(folder
                .call("run - --out t",
                      R"({"machine": {"extends": "bow", "tiles": 8}, "workload": {"kernel":
                           "convnet", "network": "resnet8", "dtype": "f16"}})")
                .code == 0);
    const std::string together = folder.call("report t --top").out;
    CHECK(together.find("\n  stage ") != std::string::npos);
    CHECK(together.find("\n  largest supersteps ") != std::string::npos);
    static_cast<void>(stages_of(folder, ""));
    const std::string alone = folder.call("report r --top").out;
    CHECK(alone.find("\n  stage ") != std::string::npos);
    CHECK(alone.find("\n  largest supersteps ") == std::string::npos);
  }
}
