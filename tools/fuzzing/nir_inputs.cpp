#include <array>
#include <filesystem>
#include <unistd.h>

#include "tests/sim/data/nir_writer.h"

#include "kinds.h"
#include "small_runs.h"

namespace tessera::fuzz {
namespace {

using data::NirNode;
using data::NirParameter;
using test::nir_numbers;

/// Usually small; rarely a size that overflows when multiplied.
double extent(Choices& choices) {
  if (!choices.once_in(12)) return static_cast<double>(1 + choices.below(2));
  constexpr std::array<double, 6> kFar = {0, -1, 65'536, 4'294'967'296, 9.3e18, 0.5};
  return choices.of(kFar);
}
NirParameter pair(Choices& choices) { return nir_numbers({2}, {extent(choices), extent(choices)}); }
NirParameter number(double value) { return nir_numbers({}, {value}); }
NirParameter filled(std::vector<std::uint64_t> shape, Choices& choices) {
  std::uint64_t count = 1;
  for (const std::uint64_t each : shape) count *= each;
  return nir_numbers(std::move(shape),
                     std::vector<double>(count, choices.once_in(8) ? 1e30 : 0.25));
}

/// A linear map of a 1 x 4 x 4 image to as many numbers, or to other sizes.
NirNode linear(Choices& choices) {
  switch (choices.below(5)) {
    case 0:
      return {
          "SumPool2d",
          {{"kernel_size", pair(choices)}, {"stride", pair(choices)}, {"padding", pair(choices)}}};
    case 1:
      return {
          "AvgPool2d",
          {{"kernel_size", pair(choices)}, {"stride", pair(choices)}, {"padding", pair(choices)}}};
    case 2:
      return {"Conv2d",
              {{"weight", filled({1 + choices.below(3), 1, 1 + choices.below(3), 2}, choices)},
               {"bias", filled({1}, choices)},
               {"stride", pair(choices)},
               {"dilation", pair(choices)},
               {"padding", pair(choices)},
               {"groups", number(extent(choices))}}};
    case 3:
      return {"Flatten", {{"start_dim", number(extent(choices) - 1)}, {"end_dim", number(-1)}}};
    default:
      return {"Linear", {{"weight", filled({4, 16}, choices)}}};
  }
}

NirNode neurons(std::uint64_t count, Choices& choices) {
  const auto all = [&](double value) {
    return nir_numbers({count}, std::vector<double>(count, value));
  };
  switch (choices.below(3)) {
    case 0:
      return {"LIF",
              {{"tau", all(0.01)}, {"r", all(1)}, {"v_leak", all(0)}, {"v_threshold", all(1)}}};
    case 1:
      return {"LI", {{"tau", all(0.01)}, {"r", all(1)}, {"v_leak", all(0)}}};
    default:
      return {"IF", {{"r", all(1)}, {"v_threshold", all(choices.once_in(3) ? 0 : 1)}}};
  }
}

std::string network(Choices& choices) {
  test::NirItem graph;
  const NirNode map = linear(choices);
  const bool fits = map.type == "Linear" || choices.once_in(4);
  graph.nodes = {{"in", {"Input", {{"shape", nir_numbers({3}, {1, 4, 4})}}}},
                 {"a", map},
                 {"n", neurons(fits ? 4 : 16, choices)},
                 {"out", {"Output", {}}}};
  graph.edges = {{"in", "a"}, {"a", "n"}, {"n", "out"}};
  if (choices.once_in(4)) graph.edges.emplace_back("n", "n");
  const std::filesystem::path file = std::filesystem::temp_directory_path() /
                                     ("tessera-fuzz-" + std::to_string(::getpid()) + ".nir");
  test::write_nir(file, graph);
  std::string bytes = read(file);
  std::filesystem::remove(file);
  return bytes;
}

}  // namespace

Input nir_input(const Seeds& seeds, Choices& choices) {
  std::string bytes = network(choices);
  if (choices.once_in(3)) bytes = mutated(bytes, choices);
  Json workload = drawn_workload(seeds, "network", choices);
  workload["network"] = "n.nir";
  const Json config = {{"machine", {{"extends", "bow"}, {"tiles", 4}}}, {"workload", workload}};
  return {{{"a.json", text_of(config)}, {"n.nir", bytes}}, simulate(choices), ""};
}

}  // namespace tessera::fuzz
