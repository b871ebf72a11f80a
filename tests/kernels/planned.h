#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "kernels/catalogue.h"
#include "sim/config/config.h"
#include "sim/config/presets.h"
#include "sim/config/writers.h"
#include "tests/cli/command.h"
#include "tests/kernels/points.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/small_machine.h"

/// Checks plans without running them: the kernels' points in the list `planned`.
namespace tessera::test {

/// Writes a point's files to a temporary folder and makes it the working directory.
class InFolder {
 public:
  explicit InFolder(const Point& point) {
    write_files(folder_, point);
    std::filesystem::current_path(folder_.path());
  }
  InFolder(const InFolder&) = delete;
  InFolder& operator=(const InFolder&) = delete;
  ~InFolder() { std::filesystem::current_path(before_); }

 private:
  Folder folder_;
  std::filesystem::path before_ = std::filesystem::current_path();
};

/// A point's config on `tiles` tiles, all used; 0: on the machine that the config names.
inline config::Config config_of(Point point, std::uint32_t tiles) {
  config::Json machine{{"extends", "bow"}};
  if (tiles > 0) {
    machine = config::resolved(small_machine(tiles, point.facts.value("sram_kib", 128U)));
    point.sets.push_back(fmt::format("workload.used_tiles={}", tiles));
  }
  config::Layers layers(
      config::Json{{"machine", machine}, {"workload", {{"kernel", point.kernel}}}}, "points.json");
  for (const std::string& each : point.sets) layers.set(each);
  return config::read_config(layers, point.kernel, kernels::catalogue(), config::machine_presets());
}

inline std::uint32_t tiles_of(const Point& point) { return point.facts.at("tiles").at(0); }

/// The plan, the facts, the work, and the predicted cycles of a point, as a report.
inline Json planned(const Point& point) {
  const config::Config config = config_of(point, tiles_of(point));
  MeasuredCosts costs(config.machine);
  const auto workload = config.workload->plan(costs);
  const Prediction predicted = workload->prediction();
  Json made{{"plan", workload->plan()},
            {"workload", workload->facts()},
            {"predicted",
             {{"cycles", predicted.cycles},
              {"compute_cycles", predicted.compute_cycles},
              {"exchange_cycles", predicted.exchange_cycles},
              {"sync_cycles", predicted.sync_cycles}}},
            {"work",
             {{"useful_flops", workload->useful_flops()},
              {"useful_integer_operations", workload->useful_integer_operations()},
              {"useful_bytes", workload->useful_bytes()}}}};
  if (point.facts.value("compiled", false))
    made["tile_bytes"] = compiled_bytes(*workload, config.machine);
  return made;
}

inline void check_planned(const Point& point) {
  CAPTURE(point.describe());
  CAPTURE(tiles_of(point));
  const Json report = planned(point);
  check_report(report, point.facts.value("report", Json::object()));
  if (point.facts.contains("than"))
    check_compared(report, planned(with(point, point.facts["than"])), point.facts);
}

/// Checks that later keys of `along` never increase the predicted cycles above the least so far, up
/// to a factor `at_most` (default 1).
inline void check_along(const Point& point) {
  double least = INFINITY;
  for (const Json& keys : point.facts.at("along")) {
    const Point each = with(point, keys);
    CAPTURE(each.describe());
    CAPTURE(tiles_of(each));
    const double cycles = planned(each)["predicted"]["cycles"];
    CHECK(cycles <= point.facts.value("at_most", 1.0) * least);
    least = std::min(least, cycles);
  }
}

}  // namespace tessera::test
