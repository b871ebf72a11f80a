#include "inputs.h"

#include <array>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "small_runs.h"

namespace tessera::fuzz {
namespace {

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// To plan, or to run for a while.
std::vector<std::string> simulate(Choices& choices) {
  if (!choices.once_in(4)) return {"check", "a.json"};
  return {"run", "a.json", "--threads", "1", "--max-cycles", "20000", "--out", "r"};
}

/// Some of the numbers in `json` at their extremes.
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

/// Sizes, tiles and parameters at their extremes: most of these are planned.
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

/// Runs that should give right results, at whatever plan they get.
Input small_input(const Seeds& /*seeds*/, Choices& choices) {
  return {{{"a.json", text_of(small_run(choices))}},
          {"run", "a.json", "--threads", "1", "--out", "r"},
          ""};
}

std::string market_text(Choices& choices) {
  const std::uint64_t rows = 1 + choices.below(40), columns = 1 + choices.below(40);
  const std::uint64_t entries = choices.below(60);
  std::string text = fmt::format("%%MatrixMarket matrix coordinate real general\n{} {} {}\n",
                                 choices.once_in(4) ? size(choices) : rows, columns, entries);
  for (std::uint64_t i = 0; i < entries; ++i) {
    text += fmt::format("{} {} {}\n", 1 + choices.below(rows), 1 + choices.below(columns), 0.5);
  }
  return text;
}

std::string smtx_text(Choices& choices) {
  const std::uint64_t rows = 1 + choices.below(20), columns = 1 + choices.below(20);
  std::vector<std::uint64_t> offsets{0}, places;
  for (std::uint64_t row = 0; row < rows; ++row) {
    for (std::uint64_t c = choices.below(4); c < columns; c += 1 + choices.below(5))
      places.push_back(c);
    offsets.push_back(places.size());
  }
  return fmt::format("{}, {}, {}\n{}\n{}\n", rows, columns, places.size(), fmt::join(offsets, " "),
                     fmt::join(places, " "));
}

std::string numpy_bytes(Choices& choices) {
  const std::size_t rows = 1 + choices.below(20), columns = 1 + choices.below(20);
  std::string header = fmt::format("{{'descr': '<f4', 'fortran_order': {}, 'shape': ({}, {}), }}",
                                   choices.once_in(2) ? "True" : "False", rows, columns);
  constexpr std::size_t kAlign = 64, kBefore = 10;
  header.resize((header.size() + kBefore + kAlign) / kAlign * kAlign - kBefore - 1, ' ');
  header += '\n';
  std::string bytes = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size() & 255) +
                      static_cast<char>(header.size() >> 8) + header;
  for (std::size_t i = 0; i < rows * columns; ++i) {
    const float number = choices.once_in(3) ? 0.0F : 0.25F;
    std::array<char, sizeof number> raw;
    std::memcpy(raw.data(), &number, sizeof number);
    bytes.append(raw.data(), raw.size());
  }
  return bytes;
}

Input matrix_input(const Seeds& /*seeds*/, Choices& choices) {
  constexpr std::array<const char*, 3> kKernels = {"spmm_static", "spmm_dynamic", "spmm_tilewise"};
  const std::string kernel = choices.of(kKernels);
  std::string name = "w.mtx", bytes;
  switch (choices.below(3)) {
    case 0:
      bytes = market_text(choices);
      break;
    case 1:
      name = "w.smtx";
      bytes = smtx_text(choices);
      break;
    default:
      name = "w.npy";
      bytes = numpy_bytes(choices);
  }
  if (!choices.once_in(3)) bytes = mutated(bytes, choices);
  Json workload = {{"kernel", kernel}, {"matrix", name}, {"n", 1 + choices.below(64)}};
  constexpr std::array<int, 4> kBlocks = {1, 4, 8, 16};
  if (kernel != "spmm_tilewise") workload["block"] = choices.of(kBlocks);
  const Json config = {{"machine", {{"extends", "bow"}, {"tiles", 1 + choices.below(64)}}},
                       {"workload", workload}};
  return {{{"a.json", text_of(config)}, {name, bytes}}, simulate(choices), ""};
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

Input results_input(const Seeds& seeds, Choices& choices) {
  const bool of_sweep = choices.once_in(2);
  Input input{of_sweep ? seeds.sweep : seeds.run, {}, ""};
  auto changed = std::next(input.files.begin(),
                           static_cast<std::ptrdiff_t>(choices.below(input.files.size())));
  changed->second = mutated(changed->second, choices);
  if (of_sweep) {
    constexpr std::array<const char*, 4> kY = {"time.cycles", "time.cycles / machine.tiles",
                                               "memory.max_tile_bytes", "plan.x"};
    input.arguments = {"plot", ".", "--format", "svg", "--y", choices.of(kY)};
  } else if (choices.once_in(2)) {
    input.arguments = {"report", ".", "--top"};
  } else {
    input.arguments = {"report", "."};
  }
  return input;
}

}  // namespace

namespace {

struct Kind {
  std::string_view name;
  unsigned share;  ///< of all inputs
  Input (*make)(const Seeds&, Choices&);
};
constexpr std::array<Kind, 7> kKinds = {{{"config", 2, config_input},
                                         {"matrix", 2, matrix_input},
                                         {"program", 1, program_input},
                                         {"sweep", 1, sweep_input},
                                         {"eval", 1, eval_input},
                                         {"results", 1, results_input},
                                         {"run", 1, small_input}}};

}  // namespace

Input make_input(const Seeds& seeds, Choices& choices, std::string_view only) {
  std::vector<const Kind*> kinds;
  for (const Kind& kind : kKinds)
    if (only.empty() || only == kind.name) kinds.insert(kinds.end(), kind.share, &kind);
  if (kinds.empty())
    throw std::runtime_error(fmt::format(
        "--only: found \"{}\", allowed config, matrix, program, sweep, eval, results, run", only));
  return choices.of(kinds)->make(seeds, choices);
}

}  // namespace tessera::fuzz
