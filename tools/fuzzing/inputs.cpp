#include "inputs.h"

#include <array>
#include <stdexcept>

#include <fmt/format.h>

#include "kinds.h"

namespace tessera::fuzz {
namespace {

/// Sets some of the numbers in `json` to extreme values.
void make_extreme(Json& json, Choices& choices) {
  if (json.is_structured()) {
    for (Json& inner : json) make_extreme(inner, choices);
  } else if (json.is_number() && !choices.once_in(3)) {
    if (json.is_number_integer()) {
      json = choices.once_in(2) ? size(choices) : power_of_two(choices);
    } else {
      json = choices.once_in(4) ? 1.0 : 1.0 / static_cast<double>(size(choices));
    }
  }
}

/// Extreme sizes, tiles and parameters, most of which are planned.
Json extreme(Json config, Choices& choices) {
  make_extreme(config["workload"], choices);
  constexpr std::array<int, 7> kTiles = {1, 2, 3, 17, 64, 1000, 1472};
  constexpr std::array<const char*, 6> kMachines = {"bow",   "gc200",       "gc2",
                                                    "upmem", "hammerblade", "wse2"};
  if (config["machine"].is_string()) config["machine"] = {{"extends", config["machine"]}};
  if (choices.once_in(3)) config["machine"] = {{"extends", choices.of(kMachines)}};
  config["machine"]["tiles"] = choices.of(kTiles);
  return config;
}

Input config_input(const Seeds& seeds, Choices& choices) {
  const Json& config = choices.of(seeds.configs);
  std::string text;
  switch (choices.below(3)) {
    case 0:
      text = mutated(config.dump(1), choices);
      break;
    case 1:
      text = text_of(mutated(config, choices));
      break;
    default:
      text = text_of(extreme(config, choices));
  }
  return {{{"a.json", text}}, simulate(choices), ""};
}

Input program_input(const Seeds& seeds, Choices& choices) {
  const std::map<std::string, std::string> files = {
      {"a.elf", mutated(choices.of(seeds.programs), choices)}};
  if (choices.once_in(3)) return {files, {"disasm", "a.elf"}, ""};
  return {files, {"exec", "a.elf", "--max-cycles", "1000000"}, ""};
}

std::string axis(Choices& choices) {
  constexpr std::array<const char*, 5> kPaths = {"machine.tiles", "workload.seed", "workload.dtype",
                                                 "run.seed", "machine"};
  constexpr std::array<const char*, 8> kValues = {"1,2", "1..4",    "1..64*4", "0..10+5",
                                                  "f16", "bow,gc2", "[1,2]",   "1e3,-0"};
  std::string text = fmt::format("{}={}", choices.of(kPaths), choices.of(kValues));
  if (choices.once_in(2)) text = mutated(text, choices);
  return text.find('\0') == std::string::npos && !text.empty() ? text : "x";
}

Input sweep_input(const Seeds& seeds, Choices& choices) {
  Json config = choices.of(seeds.configs);
  config["run"]["max_cycles"] = 2000;
  config["sweep"] = {
      {"grid", {{"workload.seed", {1, 2}}}},
      {"random",
       {{"points", 1 + choices.below(3)}, {"seed", 5}, {"axes", {{"machine.tiles", "1..8"}}}}},
      {"where", {"machine.tiles < 4", "workload.seed + 1 > 1"}}};
  if (!choices.once_in(4)) config["sweep"] = mutated(config["sweep"], choices);
  std::vector<std::string> arguments = {"sweep", "a.json", "--out", "s", "--jobs", "1"};
  while (choices.once_in(2)) arguments.push_back(axis(choices));
  return {{{"a.json", text_of(config)}}, arguments, ""};
}

Input eval_input(const Seeds& seeds, Choices& choices) {
  std::string lines;
  for (std::size_t i = 0; i < 1 + choices.below(4); ++i) {
    Json config = mutated(choices.of(seeds.configs), choices);
    if (config.is_object() && (!config.contains("run") || config["run"].is_object()))
      config["run"]["max_cycles"] = 2000;
    lines += text_of(config) + "\n";
  }
  if (choices.once_in(4)) lines = mutated(lines, choices);
  return {{}, {"eval", "--stdin"}, lines};
}

struct Kind {
  std::string_view name;
  unsigned share;  ///< weight among all inputs
  Input (*make)(const Seeds&, Choices&);
};
constexpr Kind kKinds[] = {
    {"config", 4, config_input},   {"matrix", 2, matrix_input}, {"structure", 2, structure_input},
    {"program", 2, program_input}, {"sweep", 2, sweep_input},   {"eval", 2, eval_input},
    {"results", 2, results_input}, {"run", 3, small_input},     {"training", 2, training_input},
    {"plan", 2, plan_input},       {"large", 1, large_input},   {"machine", 1, machine_input},
    {"nir", 2, nir_input},         {"host", 2, host_input}};

}  // namespace

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<std::string> simulate(Choices& choices) {
  if (!choices.once_in(4)) return {"check", "a.json"};
  return {"run", "a.json", "--threads", "1", "--max-cycles", "20000", "--out", "r"};
}

std::map<std::string, Json> stated(const Seeds& seeds, const std::string& kind) {
  std::map<std::string, Json> found;
  for (const auto& [kernel, kinds] : seeds.kernels)
    if (kinds.contains(kind)) found.emplace(kernel, kinds.at(kind));
  return found;
}

Input make_input(const Seeds& seeds, Choices& choices, std::string_view only) {
  std::vector<const Kind*> kinds;
  std::string names;
  for (const Kind& kind : kKinds) {
    if (only.empty() || only == kind.name) kinds.insert(kinds.end(), kind.share, &kind);
    names += fmt::format("{}{}", names.empty() ? "" : ", ", kind.name);
  }
  if (kinds.empty())
    throw std::runtime_error(fmt::format("--only: found \"{}\", allowed {}", only, names));
  return choices.of(kinds)->make(seeds, choices);
}

}  // namespace tessera::fuzz
