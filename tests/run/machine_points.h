#pragma once

#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/kernels/points.h"
#include "tests/run/covering_array.h"

/// Machines away from the presets, and what runs on them: each factor's levels are --set options.
namespace tessera::test {

struct Factor {
  const char* name;
  std::vector<std::string> levels;
};

/// The points that kernels state for machines: the levels of the first factor.
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
      {"workload", described(workloads())},
      {"contexts", {"1", "3", "6", "12"}},
      {"issue", {"barrel", "revolver machine.tile.reissue_cycles=11", "interleaved", "single"}},
      {"dual issue", {"true", "false"}},
      {"load width", {"16", "8", "4", "32"}},
      {"store width", {"8", "4"}},
      {"matrix unit", {"shipped", "none", "smaller", "larger"}},
      {"fabric", {"scheduled", "ideal"}},
      {"rates", {"4 4", "2 2", "8 8", "4 16", "9 7"}},
      {"latencies", {"6", "1", "11"}},
      {"slots", {"1", "2"}}};
  return kFactors;
}

using MachinePoint = CoveringArray::Row;

/// Names of a point's levels, for messages.
inline std::string describe(const MachinePoint& point) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < point.size(); ++i)
    words.push_back(
        fmt::format("{} {}", machine_factors()[i].name, machine_factors()[i].levels[point[i]]));
  return fmt::format("{}", fmt::join(words, "; "));
}

/// True if the machine exists and has what the workload needs, as far as factors are chosen.
inline bool exists(const MachinePoint& point) {
  const auto level = [&](std::size_t factor) -> std::string {
    return point[factor] == CoveringArray::kOpen ? ""
                                                 : machine_factors()[factor].levels[point[factor]];
  };
  const bool alone = level(2) == "single" && level(1) != "1" && !level(1).empty();
  const bool rated = level(7) == "ideal" && level(8) != "4 4" && !level(8).empty();
  const bool lacks_unit =
      level(6) == "none" && point[0] != CoveringArray::kOpen &&
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

inline std::vector<std::string> unit_sets(const std::string& level) {
  const auto unit = [](const char* type, int inputs, int outputs) {
    return std::vector{fmt::format("machine.tile.matrix_unit.{}.inputs={}", type, inputs),
                       fmt::format("machine.tile.matrix_unit.{}.outputs={}", type, outputs)};
  };
  const auto all = [](const std::vector<std::vector<std::string>>& parts) {
    std::vector<std::string> sets;
    for (const auto& part : parts) sets.insert(sets.end(), part.begin(), part.end());
    return sets;
  };
  if (level == "none")
    return {"machine.tile.matrix_unit.f16.outputs=0", "machine.tile.matrix_unit.f16_f32.outputs=0",
            "machine.tile.matrix_unit.f32.outputs=0"};
  if (level == "smaller") return all({unit("f16", 8, 8), unit("f16_f32", 8, 4), unit("f32", 4, 8)});
  if (level == "larger")
    return all({unit("f16", 32, 32), unit("f16_f32", 32, 16), unit("f32", 16, 16)});
  return {};
}

/// What runs at a point: a kernel's own with the machine set over it.
inline Point run_of(const MachinePoint& point) {
  const auto level = [&](std::size_t factor) {
    return words(machine_factors()[factor].levels[point[factor]]);
  };
  Point run = workloads()[point[0]];
  const auto set = [&](const std::string& path, const std::string& value) {
    run.sets.push_back(fmt::format("machine.{}={}", path, value));
  };
  set("tiles", "16");
  set("tile.contexts", level(1)[0]);
  set("tile.issue", level(2)[0]);
  if (level(2).size() > 1) run.sets.push_back(level(2)[1]);
  set("tile.dual_issue", level(3)[0]);
  set("tile.load_bytes_per_slot", level(4)[0]);
  set("tile.store_bytes_per_slot", level(5)[0]);
  for (const std::string& each : unit_sets(level(6)[0])) run.sets.push_back(each);
  set("fabric.kind", level(7)[0]);
  if (level(8) != words("4 4")) {
    set("fabric.send_bytes_per_cycle", level(8)[0]);
    set("fabric.receive_bytes_per_cycle", level(8)[1]);
  }
  for (const char* key : {"load", "integer", "f32_add", "f32_fma", "f16_fma", "float_move",
                          "matrix", "branch_taken", "integer_multiply"})
    set(fmt::format("tile.latency.{}", key), level(9)[0]);
  set("tile.slots.plain", level(10)[0]);
  return run;
}

/// Every pair of levels that can stand together.
inline std::vector<MachinePoint> pairwise_points() {
  std::vector<std::size_t> levels;
  for (const Factor& factor : machine_factors()) levels.push_back(factor.levels.size());
  return CoveringArray::make(levels, exists, 1);
}

/// Seeded points among all.
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
