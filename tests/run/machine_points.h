#pragma once

#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/run/covering_array.h"

/// Machines away from the presets, and what runs on them: each factor's levels are --set options.
namespace tessera::test {

struct Factor {
  const char* name;
  std::vector<std::string> levels;
};

inline const std::vector<Factor>& machine_factors() {
  static const std::vector<Factor> kFactors = {
      {"workload",
       {"stream workload.elements_per_worker=101 workload.repeats=3",
        "stream workload.elements_per_worker=40 workload.dtype=f16 workload.operation=add",
        "gemm workload.m=90 workload.n=70 workload.k=130",
        "gemm workload.m=33 workload.n=47 workload.k=60 workload.dtype=f32 workload.layout=natural",
        "gemm workload.m=64 workload.n=100 workload.k=200 workload.partials=f32",
        "matrix_unit workload.n=50",
        "matrix_unit workload.n=21 workload.dtype=f32",
        ("spmm_static workload.m=75 workload.k=131 workload.n=21 workload.block=1 "
         "workload.density=0.1"),
        ("spmm_static workload.m=80 workload.k=96 workload.n=33 workload.block=16 "
         "workload.density=0.3 workload.layout=natural"),
        ("spmm_dynamic workload.m=160 workload.k=224 workload.n=21 workload.block=8 "
         "workload.pattern=row_skewed"),
        ("spmm_dynamic workload.m=64 workload.k=96 workload.n=20 workload.block=4 "
         "workload.dtype=f32 workload.pass=grad_values"),
        ("pixelfly workload.m=72 workload.k=96 workload.n=21 workload.rank=9 "
         "workload.block=8 workload.dtype=f32"),
        ("pixelfly workload.m=64 workload.k=48 workload.n=30 workload.rank=7 "
         "workload.block=8 workload.pass=grad_weights workload.gamma=0.4"),
        "spmm_tilewise workload.m=75 workload.k=131 workload.n=85 workload.granularity=32",
        "butterfly workload.features=256 workload.n=37",
        ("butterfly workload.features=64 workload.n=90 workload.dtype=f16 "
         "workload.parameters=rotation workload.order=decreasing"),
        ("butterfly workload.features=32 workload.n=60 workload.dtype=complex_f32 "
         "workload.pass=grad_input"),
        "butterfly workload.features=64 workload.n=50 workload.pass=grad_twiddles",
        ("butterfly workload.features=128 workload.block=32 workload.n=40 workload.dtype=f16 "
         "workload.partials=f32"),
        ("butterfly workload.features=64 workload.block=8 workload.n=33 workload.dtype=f16 "
         "workload.pass=grad_twiddles workload.partials=f32"),
        ("mlp workload.layers[0].outputs=40 workload.layers[0].kind=butterfly workload.steps=2 "
         "workload.data.width=5 workload.batch=9 workload.data.test_samples=9"),
        ("mlp workload.layers[0].outputs=40 workload.layers[0].kind=pixelfly workload.steps=2 "
         "workload.layers[0].block=8 workload.data.width=5 workload.batch=9 "
         "workload.data.test_samples=9"),
        "fft workload.points=1024",
        ("snn workload.layers=[40,24,4] workload.data.kind=custom workload.data.inputs=60 "
         "workload.data.classes=4 workload.data.rate=0.5 workload.data.max_events=20 "
         "workload.data.samples=6 workload.max_activity=0.1 workload.time_steps=8 "
         "workload.batch=6 workload.weight_scale=200"),
        ("fft workload.points=128 workload.rows=32 workload.direction=inverse "
         "workload.layout=blocked")}},
      {"contexts", {"1", "2", "4", "6", "8", "12"}},
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

using Point = CoveringArray::Row;

/// Names of a point's levels, for messages.
inline std::string describe(const Point& point) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < point.size(); ++i)
    words.push_back(
        fmt::format("{} {}", machine_factors()[i].name, machine_factors()[i].levels[point[i]]));
  return fmt::format("{}", fmt::join(words, "; "));
}

/// True if the machine exists and has what the workload needs, as far as factors are chosen.
inline bool exists(const Point& point) {
  const auto level = [&](std::size_t factor) -> std::string {
    return point[factor] == CoveringArray::kOpen ? ""
                                                 : machine_factors()[factor].levels[point[factor]];
  };
  const bool alone = level(2) == "single" && level(1) != "1" && !level(1).empty();
  const bool rated = level(7) == "ideal" && level(8) != "4 4" && !level(8).empty();
  const bool without_unit = level(0).starts_with("matrix_unit") && level(6) == "none";
  return !alone && !rated && !without_unit;
}

/// Options of `tessera run`: the config's file and what is set over it.
struct PointRun {
  std::string config;
  std::vector<std::string> sets;
};

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

inline PointRun run_of(const Point& point) {
  const auto level = [&](std::size_t factor) {
    return words(machine_factors()[factor].levels[point[factor]]);
  };
  PointRun run{level(0)[0], level(0)};
  run.sets.erase(run.sets.begin());
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
inline std::vector<Point> pairwise_points() {
  std::vector<std::size_t> levels;
  for (const Factor& factor : machine_factors()) levels.push_back(factor.levels.size());
  return CoveringArray::make(levels, exists, 1);
}

/// Seeded points among all.
inline std::vector<Point> random_points(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Point> points;
  while (points.size() < count) {
    Point point;
    for (const Factor& factor : machine_factors()) point.push_back(random() % factor.levels.size());
    if (exists(point)) points.push_back(point);
  }
  return points;
}

}  // namespace tessera::test
