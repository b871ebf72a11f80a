#include "sim/report/units.h"
#include "tests/cli/drawn.h"
#include "tests/tools/viewer/page.h"

/// Reports of a network's layers as stages, and their plots.
namespace tessera::test {
namespace {

constexpr const char* kConfig =
    R"({"machine": "aie2_2x2", "workload": {"kernel": "convnet", "network": "resnet8"}})";

Json stages_of(const CommandFolder& folder, const std::string& options) {
  folder.done("run - --out r " + options, kConfig);
  return folder.json("r/report.json");
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("stages of a network are its layers, whose cycles sum to the run's") {
    const CommandFolder folder;
    for (const char* options : {"", "--set workload.plan.rules=published"}) {
      const Json report = stages_of(folder, options);
      const Json& stages = report.at("stages");
      CHECK(stages.contains("stack1_conv1"));
      std::uint64_t cycles = 0;
      for (const Json& stage : stages) {
        cycles += stage.at("cycles").get<std::uint64_t>();
        const auto computing = stage.at("compute_cycles").get<std::uint64_t>();
        CHECK(computing <= stage.at("cycles").get<std::uint64_t>() + 1);
      }
      // The image and the result are spread over columns of the array, at 4 GiB/s each.
      const double image = 8 * 32 * 32, result = 64;
      CHECK(stages.at("load").at("cycles").get<double>() > image / 2 / 4.294967296);
      CHECK(stages.at("store").at("cycles").get<double>() > result / 4.294967296);
      CHECK(stages.at("load").at("streams").at("load").at("bytes") == image);
      const Json& predicted = report.at("workload").at("predicted_layers");
      for (const auto& [name, layer] :
           {std::pair("load", predicted.front()), std::pair("store", predicted.back())}) {
        CHECK(layer.at("layer") == name);
        CHECK(stages.at(name).at("cycles").get<double>() ==
              doctest::Approx(layer.at("cycles").get<double>()).epsilon(0.1));
      }
      CHECK(cycles <= report.at("time").at("cycles").get<std::uint64_t>());
      CHECK(cycles > 0.98 * report.at("time").at("cycles").get<double>());
      // 16 channels of 32 x 32, one int8 each.
      CHECK(stages.at("stack1_conv1").at("streams").at("results").at("bytes") == 16384);
    }
  }

  TEST_CASE("published rules bring weights in their layer, and rows of the published buffers") {
    const CommandFolder folder;
    const Json report = stages_of(folder, "--set workload.plan.rules=published");
    CHECK(report.at("plan").at("rules") == "published");
    for (const Json& layer : report.at("plan").at("layers")) CHECK(!layer.at("adds"));
    const Json& stages = report.at("stages");
    CHECK(!stages.at("load").at("streams").contains("load_weights"));
    // 16 inputs, 16 outputs, 3 x 3, plus biases and numbers of blocks, for both rows of cores.
    CHECK(stages.at("stack1_conv1").at("streams").at("load_weights").at("bytes") ==
          2 * (1152 + 64));
  }

  TEST_CASE("stages are drawn; a run without is refused") {
    const CommandFolder folder;
    static_cast<void>(stages_of(folder, ""));
    if (has_gnuplot()) folder.done("plot r --kind stages --out f --format svg");
    folder.done("run - --out g",
                R"({"machine": {"extends": "bow", "tiles": 4}, "workload": {"kernel":
                 "gemm", "m": 8, "k": 8, "n": 8}})");
    check_refused(folder, "plot g --kind stages --out f",
                  {"g/report.json: found no stages, expected a run on a machine whose fabric is"});
  }
  TEST_CASE("stages stand beside supersteps where tiles take these together, else for them") {
    const CommandFolder folder;
    folder.done("run - --out t",
                R"({"machine": {"extends": "bow", "tiles": 8}, "workload": {"kernel":
                 "convnet", "network": "resnet8", "dtype": "f16"}})");
    const Json report = folder.json("t/report.json");
    std::uint64_t sum = 0;
    for (const Json& stage : report.at("stages"))
      sum += stage.at("compute_cycles").get<std::uint64_t>() +
             stage.at("wait_cycles").get<std::uint64_t>();
    CHECK(sum == report.at("time").at("cycles"));
    const std::string together = folder.call("report t --top").out;
    CHECK(contains(together, "\n  stage "));
    CHECK(contains(together, "\n  largest supersteps "));
    const auto cycles = stages_of(folder, "").at("time").at("cycles").get<std::uint64_t>();
    const std::string alone = folder.call("report r --top").out;
    for (const std::string& part :
         {std::string("\n  stage "), std::string("\n  stack1_conv1 "), std::string("\n  load "),
          fmt::format(": {} cycles in ", report::grouped(cycles))})
      CHECK(contains(alone, part));
    CHECK(!contains(alone, "largest supersteps"));
  }
}

TEST_SUITE("browser") {
  TEST_CASE("the page of runs on arrays shows stages, mappings as a table, and rates in OP/s") {
    NEEDS_CHROMIUM();
    const CommandFolder folder;
    folder.done("run - --out one", kConfig);
    folder.done("run - --out two --set workload.plan.rules=published", kConfig);
    folder.done("report one two");
    Chromium browser(folder.path() / ".profile");
    browser.open(folder.path() / "two/comparison.html");
    check_drawn(browser);
    const std::string compared = text_of(browser, "#compare");
    CHECK(contains(compared, "OP/s"));
    CHECK(compared.find("FLOP/s") == std::string::npos);
    CHECK(contains(compared, "plan.layers.stack1_conv1.rows"));
    CHECK(compared.find("[{") == std::string::npos);
    CHECK(contains(compared, "stack3_conv2"));
    CHECK(browser.evaluate("document.querySelectorAll('#where table').length") == 0);
    CHECK(contains(text_of(browser, "#stages"), "stack1_conv1"));
    CHECK(text_of(browser, "#config").find("[{") == std::string::npos);
    CHECK(contains(text_of(browser, "#config"), "stack1_conv1"));
    check_quiet(browser, folder.path() / "two/comparison.html");
  }
}

}  // namespace tessera::test
