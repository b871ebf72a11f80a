#include <array>

#include "kinds.h"
#include "small_runs.h"

namespace tessera::fuzz {
namespace {

constexpr const char* kRun[] = {"run", "a.json", "--threads", "1", "--out", "r"};

std::vector<std::string> run() { return {std::begin(kRun), std::end(kRun)}; }

/// Sizes at which a product of some of them leaves 32 bits; others hold them small.
constexpr const char* kLarge = R"([
  {"kernel": "butterfly", "features": [1048576, 4194304, 16777216], "n": [1, 100], "dtype": ["f16", "f32", "complex_f32"],
    "pass": ["forward", "grad_input", "grad_twiddles"]},
  {"kernel": "fft", "points": [524288, 4194304, 16777216], "rows": [1, 2, 524288]},
  {"kernel": "gemm", "m": [1, 65536, 16777216], "n": [1, 65537], "k": [1, 16777216], "dtype": ["f16", "f32"]},
  {"kernel": "spmm_static", "m": [65536, 16777216], "k": [16, 65536], "n": [1, 65536], "block": [1, 16], "density": [1e-9, 1e-4]},
  {"kernel": "spmm_dynamic", "m": [65536, 16777216], "k": [16, 65536], "n": [1, 65536], "block": [1, 16], "density": [1e-9, 1e-4]},
  {"kernel": "pixelfly", "m": [65536, 1048576], "k": [65536, 16], "n": [1, 65536], "block": [1, 16], "rank": [0, 65536]},
  {"kernel": "stream", "elements_per_worker": [65536, 16777216], "repeats": [1, 1000000]},
  {"kernel": "snn", "layers": [[65535, 65535, 2], [2, 2]], "time_steps": [1, 1048576], "batch": [1, 65535],
    "data.kind": ["custom"], "data.inputs": [1, 65535], "data.classes": [2], "data.samples": [65535], "data.max_events": [2, 65535]}
])";

/// Rates, batches and numbers at which a training is rough; data of images.npy are not scaled.
constexpr const char* kTrainings = R"({
  "optimiser.kind": ["sgd", "adam", "adam"], "optimiser.learning_rate": [0.001, 0.02, 0.05, 0.1, 0.3],
  "batch": [1, 5, 8], "steps": [5, 20], "dtype": ["f32", "f32", "f16"], "data.noise": [0, 3, 100],
  "data.width": [4, 6], "data.height": [4], "data.samples": [20],
  "layers": [[{"outputs": 24, "activation": "gelu"}, {"outputs": 10}], [{"outputs": 24, "activation": "relu"}, {"outputs": 10}],
    [{"outputs": 10}], [{"kind": "butterfly", "outputs": 16, "activation": "relu"}, {"outputs": 10}],
    [{"kind": "pixelfly", "block": 4, "outputs": 32, "activation": "gelu"}, {"outputs": 10}]]
})";

/// Pixels from 0 to 255, as cameras give them.
std::string raw_images(std::size_t images, std::size_t pixels, Choices& choices) {
  std::string bytes = data::numpy_header("|u1", {images, pixels});
  for (std::size_t i = 0; i < images * pixels; ++i) bytes += static_cast<char>(choices.below(256));
  return bytes;
}

}  // namespace

Input small_input(const Seeds& /*seeds*/, Choices& choices) {
  return {{{"a.json", text_of(small_run(choices))}}, run(), ""};
}

Input plan_input(const Seeds& seeds, Choices& choices) {
  Input input = small_input(seeds, choices);
  input.pins_plan = true;
  return input;
}

Input training_input(const Seeds& /*seeds*/, Choices& choices) {
  static const Json values = Json::parse(kTrainings);
  Json config = {{"machine", {{"extends", "bow"}, {"tiles", 1 + choices.below(16)}}},
                 {"workload", {{"kernel", "mlp"}, {"seed", 1 + choices.below(100)}}}};
  choose(config["workload"], values, choices);
  Json& data = config["workload"]["data"];
  data["test_samples"] = 8;
  Input input{{}, run(), ""};
  if (choices.once_in(3)) {
    const std::size_t images = 28;
    const std::size_t pixels = data["width"].get<std::size_t>() * data["height"].get<std::size_t>();
    input.files["x.npy"] = raw_images(images, pixels, choices);
    std::string& labels = input.files["y.npy"] = data::numpy_header("|u1", {images});
    for (std::size_t i = 0; i < images; ++i) labels += static_cast<char>(choices.below(10));
    data["images"] = "x.npy";
    data["labels"] = "y.npy";
    data.erase("noise");
  }
  input.files["a.json"] = text_of(config);
  return input;
}

Input large_input(const Seeds& /*seeds*/, Choices& choices) {
  static const Json kernels = Json::parse(kLarge);
  Json config = {{"machine", {{"extends", "bow"}, {"tiles", choices.once_in(2) ? 4 : 1472}}}};
  if (choices.once_in(6)) {
    const Json layer = {{"outputs", 1 + choices.below(40)}, {"activation", "relu"}};
    Json layers = Json::array();
    layers.insert(layers.end(), 1000 + choices.below(1000), layer);
    layers.push_back({{"outputs", 10}});
    config["workload"] = {{"kernel", "mlp"}, {"layers", layers}, {"batch", 1 + choices.below(20)}};
  } else {
    choose(config["workload"], kernels[choices.below(kernels.size())], choices);
  }
  Input input{{{"a.json", text_of(config)}}, {"check", "a.json"}, ""};
  input.is_large = true;
  return input;
}

Input machine_input(const Seeds& /*seeds*/, Choices& choices) {
  Json config = small_run(choices);
  constexpr std::array<int, 4> kTiles = {1472, 10'000, 65'536, 100'000};
  config["machine"]["tiles"] = choices.of(kTiles);
  constexpr std::array<const char*, 3> kFits = {"machine.tiles", "machine.tile.sram_kib",
                                                "workload.n"};
  Input input{{{"a.json", text_of(config)}}, {"check", "a.json"}, ""};
  if (choices.once_in(3)) {
    input.arguments = {"check", "a.json", "--fit", choices.of(kFits)};
    input.searches = true;
    // A machine of 10^5 tiles holds problems that take minutes to plan, and so does a smaller one
    // where all plans of spmm_tilewise go through ten million weights.
    if (input.arguments.back() == "workload.n") {
      config["machine"]["tiles"] = kTiles[0];
      if (config["workload"]["kernel"] == "spmm_tilewise") input.arguments.back() = "workload.m";
      input.files["a.json"] = text_of(config);
    }
  }
  if (choices.once_in(4)) input.arguments = {"sensitivity", "a.json"};
  return input;
}

}  // namespace tessera::fuzz
