#include "small_runs.h"

#include <array>
#include <iterator>
#include <string>

namespace tessera::fuzz {
namespace {

/// By kernel: values of each key, one of which is taken; of layers one list, whose keys are chosen
/// likewise.
constexpr const char* kWorkloads = R"({
  "gemm": {"m": "size", "n": "size", "k": "size", "dtype": ["f16", "f32"], "partials": ["auto", "f32"],
    "layout": ["natural", "blocked"]},
  "spmm_static": {"m": "size", "n": "size", "k": "size", "block": [1, 4, 8, 16], "density": [0.02, 0.2, 1],
    "dtype": ["f16", "f32"], "layout": ["natural", "blocked"]},
  "spmm_dynamic": {"m": "size", "n": "size", "k": "size", "block": [1, 4, 8, 16], "density": [0.02, 0.2, 0.5],
    "dtype": ["f16", "f32"], "pass": ["forward", "grad_input", "grad_values"],
    "pattern": ["uniform", "row_skewed"], "patterns": [1, 2], "layout": ["natural", "blocked"],
    "partials": ["f32", "f32", "f16"]},
  "spmm_tilewise": {"m": "size", "n": "size", "k": "size", "granularity": [8, 32, 128],
    "method": ["tw_1d", "tw_2d", "tew"], "sparsity": [0.2, 0.5, 0.9], "dtype": ["f16", "f32"]},
  "pixelfly": {"m": [16, 32, 48, 96], "n": "size", "k": [16, 64, 112], "block": [1, 4, 8, 16],
    "rank": [0, 1, 5, 16], "pass": ["forward", "grad_input", "grad_weights"], "dtype": ["f16", "f32"],
    "layout": ["natural", "blocked"], "gamma": [null, 0, 0.3, 1]},
  "butterfly": {"features": "power", "n": "size", "dtype": ["f16", "f32", "complex_f32"],
    "order": ["increasing", "decreasing"], "pass": ["forward", "grad_input", "grad_twiddles"],
    "parameters": ["free", "free", "rotation"], "block": [1, 1, 2, 4, 16], "layout": ["planned", "blocked"]},
  "fft": {"points": "power", "rows": [1, 1, 4, 16], "direction": ["forward", "inverse"],
    "layout": ["natural", "blocked"]},
  "mlp": {"layers": [[{"outputs": [7, 16, 40, 64], "kind": ["dense", "low_rank"], "activation": ["relu", "gelu"]},
                      {"outputs": [10]}],
                     [{"outputs": [16, 40, 64], "kind": ["butterfly"], "parameters": ["free", "rotation"],
                       "activation": ["relu"]}, {"outputs": [10], "kind": ["dense"]}],
                     [{"outputs": [32, 40, 64], "kind": ["pixelfly"], "block": [4, 8, 16], "activation": ["relu"],
                       "gamma": [null, 0, 0.5, 1]}, {"outputs": [10], "kind": ["dense"]}],
                     [{"outputs": [40, 64], "kind": ["pixelfly"], "block": [4, 16], "activation": ["relu"],
                       "gamma": [0.5], "learn_gamma": [true]}, {"outputs": [10], "kind": ["dense"]}]],
    "dtype": ["f16", "f32"], "batch": [1, 5, 9, 16], "steps": [2], "data.width": [4, 5, 8],
    "data.height": [4, 8], "replicas": [1, 1, 1, 2]},
  "snn": {"layers": [[20, 2], [60, 30, 2], [31, 2]], "time_steps": [3, 8], "batch": [1, 3], "weight_scale": [0, 50],
    "max_activity": [0.05, 0.3, 1], "train": [true, true, false], "neuron.recurrent": [true, false],
    "neuron.kind": ["lif", "cuba_lif", "adaptive"], "loss": ["spike_count", "membrane"],
    "plan.algorithm": ["best", "bits", "published"], "data.kind": ["custom"], "data.classes": [2],
    "data.samples": [3], "data.rate": [0.2, 1], "data.inputs": [5, 40], "data.max_events": [20]}
})";

/// Some of these keys are set.
constexpr const char* kMachines = R"({
  "tile.contexts": [1, 2, 3, 4, 6, 8, 12], "tile.issue": ["barrel", "interleaved"], "tile.dual_issue": [true, false],
  "tile.load_bytes_per_slot": [4, 8, 16, 32], "tile.store_bytes_per_slot": [4, 8],
  "tile.latency.load": [1, 6, 11], "tile.latency.f32_fma": [1, 6, 11],
  "tile.matrix_unit.f16.outputs": [0, 8, 16], "tile.matrix_unit.f16_f32.outputs": [0, 8],
  "tile.matrix_unit.f32.outputs": [0, 8], "fabric.send_bytes_per_cycle": [2, 4, 17],
  "fabric.receive_bytes_per_cycle": [3, 4, 16], "fabric.kind": ["scheduled", "ideal"]
})";

void set(Json& json, std::string path, const Json& value) {
  for (char& letter : path) letter = letter == '.' ? '/' : letter;
  json[Json::json_pointer("/" + path)] = value;
}

Json chosen(const Json& from, Choices& choices) {
  if (from == "power") return std::uint64_t{2} << choices.below(9);
  if (from == "size") return 1 + choices.below(choices.once_in(2) ? 20 : 160);
  if (!from.is_array()) return from;
  Json value = from[choices.below(from.size())];
  for (Json& layer : value) {
    if (!layer.is_object()) continue;
    for (Json& each : layer) each = chosen(each, choices);
  }
  return value;
}

}  // namespace

void choose(Json& into, const Json& values, Choices& choices) {
  for (const auto& [key, each] : values.items()) set(into, key, chosen(each, choices));
}

Json small_run(Choices& choices) {
  static const Json workloads = Json::parse(kWorkloads);
  static const Json machines = Json::parse(kMachines);
  const auto kernel =
      std::next(workloads.begin(), static_cast<std::ptrdiff_t>(choices.below(workloads.size())));
  Json config = {{"workload", {{"kernel", kernel.key()}, {"seed", 1 + choices.below(1000)}}},
                 {"run", {{"check", "full"}, {"check_races", true}}}};
  choose(config["workload"], *kernel, choices);
  constexpr std::array<const char*, 8> kPresets = {"bow", "bow",         "gc200", "gc2",
                                                   "bow", "hammerblade", "upmem", "wse2"};
  constexpr std::array<int, 8> kTiles = {1, 2, 3, 5, 8, 16, 17, 33};
  config["machine"] = {{"extends", choices.of(kPresets)}, {"tiles", choices.of(kTiles)}};
  for (const auto& [key, values] : machines.items())
    if (choices.once_in(8)) set(config["machine"], key, chosen(values, choices));
  return config;
}

}  // namespace tessera::fuzz
