#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"

using tessera::test::CommandFolder;

/// Trainings that begin with weights of files.
namespace {

/// One batch that lies on the machine, so that every step sees the same samples.
std::string config_with(const std::string& first, const std::string& dtype) {
  return fmt::format(
      R"({{"machine": {{"extends": "bow", "tiles": 4}}, "report": {{"tensors": "all"}},
    "workload": {{"kernel": "mlp", "layers": [{{{}, "outputs": 12, "activation": "relu"}}, {{"outputs": 4}}],
    "data": {{"width": 5, "height": 3, "classes": 4, "samples": 10, "test_samples": 0}}, "dtype": "{}",
    "batch": 10, "feed": "device", "optimiser": {{"kind": "sgd", "momentum": 0, "learning_rate": 0.1}}}}}})",
      first, dtype);
}

void run_training(const CommandFolder& folder, const std::string& more) {
  folder.done("run a.json --out result " + more);
}

/// The bytes of all tensors of weights, by name.
using Files = std::map<std::string, std::string>;
Files saved_weights(const CommandFolder& folder, const std::string& in = "result/tensors") {
  Files files;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() / in)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("weights_")) files[name] = folder.read(fmt::format("{}/{}", in, name));
  }
  return files;
}

/// Keeps the tensors of the last run as the folder `given`.
void keep_tensors(const CommandFolder& folder) {
  std::filesystem::remove_all(folder.path() / "given");
  std::filesystem::rename(folder.path() / "result/tensors", folder.path() / "given");
}

const std::vector<std::string> kFirstLayers{
    R"("kind": "dense")",
    R"("kind": "low_rank", "rank": 3)",
    R"("kind": "butterfly")",
    R"("kind": "butterfly", "parameters": "rotation")",
    R"("kind": "pixelfly", "block": 4, "rank": 4)",
    R"("kind": "pixelfly", "block": 4, "rank": 4, "gamma": 0.6, "learn_gamma": true)",
    R"("kind": "circulant")",
    R"("kind": "fastfood")"};

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("a training of any layers goes on from saved weights as if it had not stopped") {
    const CommandFolder folder;
    for (const std::string& layer : kFirstLayers)
      for (const std::string type : {"f32", "f16"}) {
        CAPTURE(layer);
        CAPTURE(type);
        folder.write("a.json", config_with(layer, type));
        const std::string fixed = type == "f16" ? " --set workload.loss_scale=64" : "";
        run_training(folder, "--set workload.steps=4" + fixed);
        const Files whole = saved_weights(folder);
        run_training(folder, "--set workload.steps=2" + fixed);
        CHECK(saved_weights(folder) != whole);
        keep_tensors(folder);
        run_training(folder, "--set workload.steps=2 --set workload.weights=given" + fixed);
        CHECK(saved_weights(folder) == whole);
      }
  }

  TEST_CASE("weights that nothing trains are saved as they were given") {
    const CommandFolder folder;
    // Both types of each layer are trained above.
    std::string type = "f32";
    for (const std::string& layer : kFirstLayers) {
      CAPTURE(layer);
      CAPTURE(type);
      folder.write("a.json", config_with(layer, type));
      run_training(folder, "--set workload.train=false --set workload.seed=7");
      const Files seeded = saved_weights(folder);
      keep_tensors(folder);
      if (layer == kFirstLayers.front()) {
        run_training(folder, "--set workload.train=false");
        CHECK(saved_weights(folder) != seeded);
      }
      run_training(folder, "--set workload.train=false --set workload.weights=given");
      CHECK(saved_weights(folder) == seeded);
      type = type == "f32" ? "f16" : "f32";
    }
  }

  TEST_CASE("what a spiking network has learnt is read back as it was saved") {
    const CommandFolder folder{{"a.json", R"({"machine": {"extends": "bow", "tiles": 16},
      "report": {"tensors": "all"},
      "workload": {"kernel": "snn", "layers": [6, 5, 3], "time_steps": 6, "batch": 2,
                   "max_activity": 1, "steps": 2,
                   "data": {"kind": "custom", "inputs": 5, "classes": 3, "samples": 2, "rate": 0.5}}})"}};
    const auto saved = [&] {
      std::string bytes;
      for (const char* name : {"layer_0", "layer_1", "layer_2", "layer_0_recurrent"}) {
        const std::string file = fmt::format("result/tensors/{}.npy", name);
        if (folder.has(file)) bytes += folder.read(file);
      }
      return bytes;
    };
    for (const std::string way :
         {"plan.algorithm=bits --set workload.neuron.recurrent=true",
          "plan.algorithm=published --set workload.neuron.recurrent=true", "activations=dense"}) {
      CAPTURE(way);
      const std::string set = "--set workload." + way;
      run_training(folder, set + " --set workload.train=false");
      const std::string seeded = saved();
      run_training(folder, set);
      const std::string trained = saved();
      CHECK(trained != seeded);
      keep_tensors(folder);
      run_training(folder, set + " --set workload.train=false --set workload.weights=given");
      CHECK(saved() == trained);
      if (way.find("recurrent") == std::string::npos) continue;
      check_refused(folder, "run a.json --set workload.weights=given",
                    {"workload.weights: found given/layer_0_recurrent.npy, which nothing of the "
                     "network reads, allowed layer_0.npy, layer_1.npy, layer_2.npy"});
    }
  }
}
