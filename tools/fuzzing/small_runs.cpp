#include "small_runs.h"

#include <array>
#include <iterator>
#include <string>

namespace tessera::fuzz {
namespace {

/// Machine keys and values; some keys are set.
constexpr const char* kMachineKeys = R"({
  "tile.contexts": [1, 2, 3, 4, 6, 8, 12], "tile.issue": ["barrel", "interleaved"], "tile.dual_issue": [true, false],
  "tile.load_bytes_per_slot": [4, 8, 16, 32], "tile.store_bytes_per_slot": [4, 8],
  "tile.latency.load": [1, 6, 11], "tile.latency.f32_fma": [1, 6, 11],
  "tile.matrix_unit.f16.outputs": [0, 8, 16], "tile.matrix_unit.f16_f32.outputs": [0, 8],
  "tile.matrix_unit.f32.outputs": [0, 8], "tile.matrix_unit.smaller_blocks": [true, false], "fabric.send_bytes_per_cycle": [2, 4, 17],
  "fabric.receive_bytes_per_cycle": [3, 4, 16], "fabric.kind": ["scheduled", "ideal"]
})";

void set(Json& json, std::string path, const Json& value) {
  for (char& letter : path) letter = letter == '.' ? '/' : letter;
  json[Json::json_pointer("/" + path)] = value;
}

Json chosen(const Json& from, Choices& choices);

/// A list that repeats a layer, then the last layer.
Json repeated(const Json& from, Choices& choices) {
  Json layer = from["layer"];
  for (Json& each : layer) each = chosen(each, choices);
  Json layers = Json::array();
  layers.insert(layers.end(), chosen(from["repeat"], choices).get<std::size_t>(), layer);
  layers.push_back(from["last"]);
  return layers;
}

Json chosen(const Json& from, Choices& choices) {
  if (from == "power") return std::uint64_t{2} << choices.below(9);
  if (from == "size") return 1 + choices.below(choices.once_in(2) ? 20 : 160);
  if (from.is_object() && from.contains("repeat")) return repeated(from, choices);
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

Json drawn_workload(const Seeds& seeds, const std::string& kind, Choices& choices) {
  const std::map<std::string, Json> kernels = stated(seeds, kind);
  const auto kernel =
      std::next(kernels.begin(), static_cast<std::ptrdiff_t>(choices.below(kernels.size())));
  Json workload = {{"kernel", kernel->first}};
  choose(workload, kernel->second, choices);
  return workload;
}

Json small_run(const Seeds& seeds, Choices& choices) {
  static const Json machines = Json::parse(kMachineKeys);
  Json config = {{"workload", drawn_workload(seeds, "small", choices)},
                 {"run", {{"check", "full"}, {"check_races", true}}}};
  config["workload"]["seed"] = 1 + choices.below(1000);
  constexpr std::array<const char*, 8> kPresets = {"bow", "bow",         "gc200", "gc2",
                                                   "bow", "hammerblade", "upmem", "wse2"};
  constexpr std::array<int, 8> kTiles = {1, 2, 3, 5, 8, 16, 17, 33};
  config["machine"] = {{"extends", choices.of(kPresets)}, {"tiles", choices.of(kTiles)}};
  for (const auto& [key, values] : machines.items())
    if (choices.once_in(8)) set(config["machine"], key, chosen(values, choices));
  return config;
}

}  // namespace tessera::fuzz
