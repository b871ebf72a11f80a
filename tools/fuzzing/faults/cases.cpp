#include "tools/fuzzing/faults/cases.h"

namespace tessera::faults {
namespace {

using fuzz::Json;

/// By kernel: what its cases share, then each with its depth; 4 tiles of a Bow if nothing is said.
constexpr const char* kCases = R"({
  "gemm": {"shared": {"m": 40, "n": 24, "k": 80}, "depth": 80, "cases": {
    "f16": {"dtype": "f16"}, "f32": {"dtype": "f32"}, "natural": {"dtype": "f16", "layout": "natural"},
    "f32_partials": {"dtype": "f16", "partials": "f32"}}},
  "spmm_static": {"shared": {"m": 64, "k": 96, "n": 12, "density": 0.3}, "depth": 40, "cases": {
    "block1": {"block": 1, "dtype": "f32"}, "block1_f16": {"block": 1, "dtype": "f16"},
    "block4": {"block": 4, "dtype": "f32"}, "block8_f16": {"block": 8, "dtype": "f16"},
    "block16_f16": {"block": 16, "dtype": "f16", "layout": "natural"}}},
  "spmm_dynamic": {"shared": {"m": 64, "k": 96, "n": 12, "density": 0.3}, "depth": 64, "cases": {
    "block1": {"block": 1, "dtype": "f32"}, "block4_f16": {"block": 4, "dtype": "f16"},
    "block16_f16": {"block": 16, "dtype": "f16", "layout": "natural"},
    "input1": {"block": 1, "dtype": "f32", "pass": "grad_input"},
    "input8_f16": {"block": 8, "dtype": "f16", "pass": "grad_input"},
    "values1": {"block": 1, "dtype": "f32", "pass": "grad_values"},
    "values8_f16": {"block": 8, "dtype": "f16", "pass": "grad_values"}}},
  "spmm_tilewise": {"shared": {"m": 40, "k": 64, "n": 64, "granularity": 16}, "depth": 64, "cases": {
    "tw_1d": {"method": "tw_1d"}, "tw_2d": {"method": "tw_2d", "dtype": "f32"},
    "tew": {"method": "tew", "overlay": 0.1}}},
  "pixelfly": {"shared": {"m": 64, "k": 64, "n": 12, "rank": 8, "block": 8}, "depth": 72, "cases": {
    "f32": {"dtype": "f32"}, "f16": {"dtype": "f16"}, "gamma": {"dtype": "f32", "gamma": 0.3},
    "input": {"dtype": "f32", "pass": "grad_input"}, "block1": {"dtype": "f32", "block": 1},
    "weights": {"dtype": "f32", "pass": "grad_weights"},
    "weights_f16": {"dtype": "f16", "pass": "grad_weights", "gamma": 0.3}}},
  "butterfly": {"shared": {"features": 32, "n": 24}, "depth": 48, "cases": {
    "f32": {"dtype": "f32"}, "f16": {"dtype": "f16"}, "complex": {"dtype": "complex_f32"},
    "decreasing": {"dtype": "f32", "order": "decreasing"},
    "input": {"dtype": "f32", "pass": "grad_input"}, "rotation": {"dtype": "f32", "parameters": "rotation"},
    "twiddles": {"dtype": "f32", "pass": "grad_twiddles"},
    "twiddles_f16": {"dtype": "f16", "pass": "grad_twiddles"},
    "rotations": {"dtype": "f32", "pass": "grad_twiddles", "parameters": "rotation"},
    "blocks": {"dtype": "f16", "block": 16}, "blocks_twiddles": {"dtype": "f16", "block": 4, "pass": "grad_twiddles"}}},
  "fft": {"shared": {"points": 256}, "depth": 16, "cases": {
    "forward": {}, "inverse": {"direction": "inverse"}, "rows": {"points": 16, "rows": 16},
    "batch": {"batch": 12, "points": 64}}},
  "stream": {"shared": {"elements_per_worker": 60}, "depth": 2, "cases": {
    "copy": {"operation": "copy"}, "scale": {"operation": "scale", "dtype": "f16"}, "add": {"operation": "add"},
    "triad": {"operation": "triad"}, "triad_f16": {"operation": "triad", "dtype": "f16"},
    "update": {"operation": "update", "dtype": "i32"}}},
  "latency": {"shared": {"steps": 96, "chains": 2}, "depth": 96, "cases": {
    "load": {"operation": "load"}, "other": {"operation": "f32_fma"}}},
  "matrix_unit": {"shared": {"n": 40}, "depth": 16, "cases": {"f16": {}}},
  "mlp": {"shared": {"data": {"width": 6, "height": 6, "samples": 24, "test_samples": 8, "classes": 10},
      "batch": 8, "steps": 3, "optimiser": {"kind": "sgd", "learning_rate": 0.02}}, "depth": 1000, "cases": {
    "relu": {"layers": [{"outputs": 24, "activation": "relu"}, {"outputs": 10}]},
    "gelu": {"layers": [{"outputs": 24, "activation": "gelu"}, {"outputs": 10}]},
    "low_rank": {"layers": [{"kind": "low_rank", "rank": 5, "outputs": 24, "activation": "relu"}, {"outputs": 10}]},
    "butterfly": {"layers": [{"kind": "butterfly", "outputs": 32, "activation": "relu"}, {"outputs": 10}]},
    "rotation": {"layers": [{"kind": "butterfly", "parameters": "rotation", "outputs": 32, "activation": "relu"}, {"outputs": 10}]},
    "pixelfly": {"layers": [{"kind": "pixelfly", "block": 8, "outputs": 32, "activation": "relu"}, {"outputs": 10}]},
    "gamma": {"layers": [{"kind": "pixelfly", "block": 4, "gamma": 0.5, "learn_gamma": true, "outputs": 32, "activation": "relu"}, {"outputs": 10}]},
    "adam": {"optimiser": {"kind": "adam", "learning_rate": 0.002, "epsilon": 0.01},
      "layers": [{"outputs": 24, "activation": "relu"}, {"outputs": 10}]},
    "f16": {"dtype": "f16", "layers": [{"outputs": 24, "activation": "relu"}, {"outputs": 10}]},
    "f16_butterfly": {"dtype": "f16", "layers": [{"kind": "butterfly", "outputs": 32, "activation": "relu"}, {"outputs": 10}]},
    "f16_pixelfly": {"dtype": "f16", "layers": [{"kind": "pixelfly", "block": 16, "outputs": 32, "activation": "gelu"}, {"outputs": 10}]},
    "replicas": {"replicas": 2, "layers": [{"outputs": 24, "activation": "relu"}, {"outputs": 10}]}}},
  "snn": {"shared": {"layers": [20, 12, 3], "time_steps": 8, "batch": 4, "steps": 3, "max_activity": 0.5,
      "data": {"kind": "custom", "inputs": 40, "classes": 3, "samples": 12, "rate": 0.2, "max_events": 20}},
      "depth": 2000, "cases": {
    "lif": {}, "cuba_lif": {"neuron": {"kind": "cuba_lif"}}, "adaptive": {"neuron": {"kind": "adaptive"}},
    "recurrent": {"neuron": {"recurrent": true}}, "dense": {"activations": "dense", "max_activity": null},
    "published": {"plan": {"algorithm": "published"}}, "recomputed": {"states": "recomputed"},
    "membrane": {"loss": "membrane"}, "adam": {"optimiser": {"kind": "adam", "learning_rate": 0.001, "epsilon": 0.01}}}}
})";

}  // namespace

std::vector<Case> cases(std::string_view only) {
  std::vector<Case> all;
  const Json kernels = Json::parse(kCases);
  for (const auto& [kernel, entry] : kernels.items()) {
    for (const auto& [name, own] : entry["cases"].items()) {
      Json workload = {{"kernel", kernel}, {"seed", 7}};
      workload.update(entry["shared"]);
      workload.update(own);
      const std::string type = workload.value(
          "dtype", kernel == "matrix_unit" || kernel == "spmm_tilewise" ? "f16" : "f32");
      const Json machine = {{"extends", "bow"},
                            {"tiles", kernel == "mlp" || kernel == "snn" ? 12 : 4}};
      const Case made{
          kernel + "/" + name,
          kernel,
          {{"machine", machine}, {"workload", workload}, {"report", {{"tensors", "all"}}}},
          entry["depth"],
          type == "f16"};
      if (made.name.starts_with(only)) all.push_back(made);
    }
  }
  return all;
}

}  // namespace tessera::faults
