#include <array>

#include "kinds.h"
#include "small_runs.h"

namespace tessera::fuzz {
namespace {

constexpr const char* kRun[] = {"run", "a.json", "--threads", "1", "--out", "r"};

std::vector<std::string> run() { return {std::begin(kRun), std::end(kRun)}; }

/// Unscaled pixels from 0 to 255.
std::string raw_images(std::size_t images, std::size_t pixels, Choices& choices) {
  std::string bytes = data::numpy_header("|u1", {images, pixels});
  for (std::size_t i = 0; i < images * pixels; ++i) bytes += static_cast<char>(choices.below(256));
  return bytes;
}

}  // namespace

Input small_input(const Seeds& seeds, Choices& choices) {
  return {{{"a.json", text_of(small_run(seeds, choices))}}, run(), ""};
}

Input plan_input(const Seeds& seeds, Choices& choices) {
  Input input = small_input(seeds, choices);
  input.pins_plan = true;
  return input;
}

Input training_input(const Seeds& seeds, Choices& choices) {
  Json config = {{"machine", {{"extends", "bow"}, {"tiles", 1 + choices.below(16)}}},
                 {"workload", drawn_workload(seeds, "training", choices)}};
  config["workload"]["seed"] = 1 + choices.below(100);
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

Input large_input(const Seeds& seeds, Choices& choices) {
  const Json config = {{"machine", {{"extends", "bow"}, {"tiles", choices.once_in(2) ? 4 : 1472}}},
                       {"workload", drawn_workload(seeds, "large", choices)}};
  Input input{{{"a.json", text_of(config)}}, {"check", "a.json"}, ""};
  input.is_large = true;
  return input;
}

Input machine_input(const Seeds& seeds, Choices& choices) {
  Json config = small_run(seeds, choices);
  constexpr std::array<int, 4> kTiles = {1472, 10'000, 65'536, 100'000};
  config["machine"]["tiles"] = choices.of(kTiles);
  constexpr std::array<const char*, 3> kFits = {"machine.tiles", "machine.tile.sram_kib",
                                                "workload.n"};
  Input input{{{"a.json", text_of(config)}}, {"check", "a.json"}, ""};
  if (choices.once_in(3)) {
    input.arguments = {"check", "a.json", "--fit", choices.of(kFits)};
    input.searches = true;
    // Problems that fit a machine of 10^5 tiles take minutes to plan; so do smaller ones if every
    // plan reads ten million weights: such a kernel declares another key to fit.
    if (input.arguments.back() == "workload.n") {
      config["machine"]["tiles"] = kTiles[0];
      const Json& kernel = seeds.kernels.at(config["workload"]["kernel"]);
      input.arguments.back() = kernel.value("fit", input.arguments.back());
      input.files["a.json"] = text_of(config);
    }
  }
  if (choices.once_in(4)) input.arguments = {"sensitivity", "a.json"};
  return input;
}

}  // namespace tessera::fuzz
