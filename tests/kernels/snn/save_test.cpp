#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/cli/saved.h"

using namespace tessera;
using test::CommandFolder;
using test::run_saving;
using test::tensors_config;

/// Inputs and results in files: what is saved is what was computed, whatever lies where.
TEST_SUITE("cli") {
  TEST_CASE("a spiking network's weights and streams give the same run when they are read back") {
    const CommandFolder folder;
    const std::string network = R"("kernel": "snn", "layers": [6, 3], "time_steps": 4, "batch": 2,
      "train": false, "weight_scale": 30,
      "data": {"kind": "custom", "inputs": 5, "classes": 3, "samples": 2, "rate": 0.4})";
    run_saving(folder, tensors_config(network, 16));
    const auto results = [&] { return folder.json("result/report.json").at("results"); };
    const auto first = results();
    CHECK(first.at("layers").at(0).at("spikes_a_step") > 0);
    const data::NumpyArray raster = test::saved(folder, "raster");
    CHECK(raster.dtype == "|i1");
    CHECK(raster.shape == std::vector<std::uint64_t>{2, 4, 5});
    // A tile's list of a step has the raster's spikes.
    const data::NumpyArray lists = test::saved(folder, "spikes_0");
    CHECK(lists.shape.at(0) == 2);
    CHECK(lists.shape.at(1) == 5);
    std::filesystem::rename(folder.path() / "result/tensors", folder.path() / "given");
    run_saving(folder, tensors_config(network, 16),
               "--set workload.weight_scale=null --set workload.weights=given --set "
               "workload.data.raster=given/raster.npy --set workload.data.labels=given/labels.npy "
               "--set workload.data.rate=null");
    CHECK(results() == first);
  }
}
