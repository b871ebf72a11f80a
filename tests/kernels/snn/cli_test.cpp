#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/cli/command.h"
#include "tests/cli/drawn.h"
#include "tests/cli/saved.h"

using namespace tessera;
using tessera::test::Answer;
using tessera::test::check_refused;
using tessera::test::CommandFolder;
using test::run_saving;

/// Command-line tests of spiking networks.
namespace {

constexpr const char* kSnn = R"({"machine": {"extends": "bow", "tiles": 16},
  "workload": {"kernel": "snn", "layers": [6, 3], "time_steps": 4, "batch": 2,
               "data": {"kind": "custom", "inputs": 5, "classes": 3, "samples": 2}}})";

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("the spikes of the last batch are a file, in order, and a figure") {
    const CommandFolder folder{{"a.json", kSnn}};
    folder.done("run a.json --out r --set workload.weight_scale=60 --set workload.data.rate=0.6");
    const std::string csv = folder.read("r/raster.csv");
    const auto report = folder.json("r/report.json");
    const auto& counts = report.at("results").at("counts");
    CHECK(report.at("energy").at("joules_each").at("synaptic_events").get<double>() ==
          doctest::Approx(report.at("energy").at("joules").get<double>() /
                          counts.at("synaptic_events").get<double>()));
    const auto& raster = report.at("results").at("raster");
    CHECK_FALSE(raster.contains("csv"));
    CHECK(raster.at("samples") == 2);
    CHECK(raster.at("left_out") == 0);
    std::istringstream lines(csv);
    std::string line;
    std::getline(lines, line);
    CHECK(line == "sample,layer,step,neuron");
    std::vector<std::array<int, 4>> spikes;  // sample, step, layer, neuron
    while (std::getline(lines, line)) {
      auto& [sample, step, layer, neuron] = spikes.emplace_back();
      REQUIRE(std::sscanf(line.c_str(), "%d,%d,%d,%d", &sample, &layer, &step, &neuron) == 4);
      CHECK(neuron < (layer == 0 ? 5 : layer == 1 ? 6 : 3));
      CHECK(step < 4);
    }
    CHECK(spikes.size() == raster.at("spikes"));
    CHECK(std::is_sorted(spikes.begin(), spikes.end()));
    const auto of_hidden = [](const auto& spike) { return spike[2] == 1; };
    const auto hidden = std::count_if(spikes.begin(), spikes.end(), of_hidden);
    CHECK(hidden > 0);
    const Answer plot = folder.call("plot r --kind raster --sample 1 --width 3.3in --name it");
    CAPTURE(plot.err);
    if (std::system("command -v gnuplot > /dev/null 2>&1") == 0) {
      CHECK(plot.code == 0);
      CHECK(folder.read("r/plots/it.csv").find("\n0,") == std::string::npos);
      CHECK(folder.read("r/plots/it.csv").find("\n1,") != std::string::npos);
    }
    check_refused(folder, "plot r --kind raster --sample 2", {"no sample 2", "allowed 0 to 1"});
    check_refused(folder, "plot r --kind tiles --sample 1",
                  {"--sample: found 1, allowed for tiles: --y"});
    folder.done("run a.json --out r --set workload.activations=dense");
    CHECK_FALSE(std::filesystem::exists(folder.path() / "r/raster.csv"));
    check_refused(folder, "plot r --kind raster", {"raster.csv", "spiking network"});
    folder.done("run a.json --out r --set workload.data.rate=0");
    check_refused(folder, "plot r --kind raster", {"raster.csv", "no input and no neuron spiked"});
  }

  TEST_CASE("whole samples of many spikes are written, and the report gives the number left out") {
    const CommandFolder folder{{"a.json", kSnn}};
    folder.done(
        "run a.json --out r --set machine.tiles=40 --set workload.data.inputs=2000 --set "
        "workload.train=false --set "
        "workload.data.max_events=2000 --set workload.data.rate=0.9 --set run.check=off --set "
        "workload.time_steps=35 --set workload.batch=6 --set workload.data.samples=6");
    const auto raster = folder.json("r/report.json").at("results").at("raster");
    CHECK(raster.at("samples") > 1);
    CHECK(raster.at("samples") < 6);
    CHECK(raster.at("of_samples") == 6);
    CHECK(raster.at("spikes") <= 100'000);
    CHECK(raster.at("left_out") > 20'000);
    CHECK(folder.read("r/raster.csv").find("\n5,") == std::string::npos);
    check_refused(folder, "plot r --kind raster --sample 5", {"no sample 5", "left out"});
  }

  TEST_CASE("streams are saved as a raster, lists of spikes by samples and steps") {
    const CommandFolder folder;
    run_saving(folder, kSnn, "--set report.tensors=all");
    const data::NumpyArray raster = test::saved(folder, "raster");
    CHECK(raster.dtype == "|i1");
    CHECK(raster.shape == std::vector<std::uint64_t>{2, 4, 5});
    // Each tile's list of a step holds the spikes of the raster.
    const data::NumpyArray lists = test::saved(folder, "spikes_0");
    CHECK(lists.shape.at(0) == 2);
    CHECK(lists.shape.at(1) == 5);
  }

  TEST_CASE("a network's training and its raster are drawn") {
    if (!tessera::test::has_gnuplot()) {
      MESSAGE("skipped: gnuplot is not installed");
      return;
    }
    const CommandFolder folder;
    folder.done("run - --out n --quiet",
                R"({"machine": {"extends": "bow", "tiles": 16},
                      "workload": {"kernel": "snn", "layers": [40, 10], "time_steps": 9, "batch": 2,
                                   "data": {"samples": 2, "rate": 0.1}, "weight_scale": 60}})");
    for (const std::string arguments :
         {"n --kind training", "n --kind raster --width 3.3in --size 8"})
      tessera::test::check_drawn(folder, arguments);
  }
}
