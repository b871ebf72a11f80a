#pragma once

#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/kernels/points.h"
#include "tests/run/covering_array.h"

/// Machines that differ from the presets, and the workloads they run.
namespace tessera::test {

/// A level holds one value for each key, or one for all keys; "-" leaves a key unchanged.
struct Factor {
  const char* name;
  const char* keys;  ///< without the prefix "machine."
  std::vector<std::string> levels;
};

/// The points in the kernels' lists `machines`: the levels of the first factor.
inline const std::vector<Point>& workloads() {
  static const std::vector<Point> kWorkloads = points("machines");
  return kWorkloads;
}

inline std::vector<std::string> described(const std::vector<Point>& points) {
  std::vector<std::string> levels;
  levels.reserve(points.size());
  for (const Point& point : points) levels.push_back(point.describe());
  return levels;
}

inline const std::vector<Factor>& machine_factors() {
  static const std::vector<Factor> kFactors = {
      {"workload", "", described(workloads())},
      {"contexts", "tile.contexts", {"1", "3", "6", "12"}},
      {"issue",
       "tile.issue tile.reissue_cycles",
       {"barrel -", "revolver 11", "interleaved -", "single -"}},
      {"dual issue", "tile.dual_issue", {"true", "false"}},
      {"load width", "tile.load_bytes_per_slot", {"16", "8", "4", "32"}},
      {"store width", "tile.store_bytes_per_slot", {"8", "4"}},
      {"matrix unit",
       "tile.matrix_unit.f16.inputs tile.matrix_unit.f16.outputs tile.matrix_unit.f16_f32.inputs "
       "tile.matrix_unit.f16_f32.outputs tile.matrix_unit.f32.inputs tile.matrix_unit.f32.outputs",
       {"-", "- 0 - 0 - 0", "8 8 8 4 4 8", "32 32 32 16 16 16"}},
      {"fabric", "fabric.kind", {"scheduled", "ideal"}},
      {"rates",
       "fabric.send_bytes_per_cycle fabric.receive_bytes_per_cycle",
       {"-", "2 2", "8 8", "4 16", "9 7"}},
      {"latencies",
       "tile.latency.load tile.latency.integer tile.latency.f32_add tile.latency.f32_fma "
       "tile.latency.f16_fma tile.latency.float_move tile.latency.matrix "
       "tile.latency.branch_taken tile.latency.integer_multiply",
       {"6", "1", "11"}},
      {"slots", "tile.slots.plain", {"1", "2"}}};
  return kFactors;
}

using MachinePoint = CoveringArray::Row;

/// Names of a point's factors and levels, for messages.
inline std::string describe(const MachinePoint& point) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < point.size(); ++i)
    words.push_back(
        fmt::format("{} {}", machine_factors()[i].name, machine_factors()[i].levels[point[i]]));
  return fmt::format("{}", fmt::join(words, "; "));
}

/// True if the factors chosen so far give a valid machine that can run the workload.
inline bool exists(const MachinePoint& point) {
  const auto level = [&](std::size_t factor) -> std::string {
    return point[factor] == CoveringArray::kOpen ? ""
                                                 : machine_factors()[factor].levels[point[factor]];
  };
  const bool alone = level(2) == "single -" && level(1) != "1" && !level(1).empty();
  const bool rated = level(7) == "ideal" && level(8) != "-" && !level(8).empty();
  const bool lacks_unit =
      level(6) == "- 0 - 0 - 0" && point[0] != CoveringArray::kOpen &&
      workloads()[point[0]].facts.value("needs", "") == machine_factors()[6].name;
  return !alone && !rated && !lacks_unit;
}

inline std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> found;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    found.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return found;
}

/// The kernel's own point with the machine's keys set over it.
inline Point run_of(const MachinePoint& point) {
  Point run = workloads()[point[0]];
  run.sets.emplace_back("machine.tiles=16");
  for (std::size_t i = 1; i < point.size(); ++i) {
    const std::vector<std::string> keys = words(machine_factors()[i].keys);
    const std::vector<std::string> values = words(machine_factors()[i].levels[point[i]]);
    for (std::size_t key = 0; key < keys.size(); ++key)
      if (const std::string& value = values[key % values.size()]; value != "-")
        run.sets.push_back(fmt::format("machine.{}={}", keys[key], value));
  }
  return run;
}

/// Points that contain every valid pair of levels.
inline std::vector<MachinePoint> pairwise_points() {
  std::vector<std::size_t> levels;
  for (const Factor& factor : machine_factors()) levels.push_back(factor.levels.size());
  return CoveringArray::make(levels, exists, 1);
}

/// `count` random valid points.
inline std::vector<MachinePoint> random_points(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<MachinePoint> points;
  while (points.size() < count) {
    MachinePoint point;
    for (const Factor& factor : machine_factors()) point.push_back(random() % factor.levels.size());
    if (exists(point)) points.push_back(point);
  }
  return points;
}

}  // namespace tessera::test
