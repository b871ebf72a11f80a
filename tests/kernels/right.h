#pragma once

#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "kernels/catalogue.h"
#include "sim/base/errors.h"
#include "sim/config/config.h"
#include "sim/config/presets.h"
#include "tests/kernels/points.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/small_machine.h"

/// The list `right` of kernels' points: problems whose results are right on small machines.
namespace tessera::test {

/// Plans and compiles a point on tiles of each of `fits` KiB. Planning it for two tiles of `over`
/// KiB is refused.
inline void check_fits(const Point& point, std::uint32_t tiles) {
  for (const std::uint32_t sram_kib : std::vector<std::uint32_t>(point.facts.at("fits"))) {
    CAPTURE(sram_kib);
    MeasuredCosts costs(small_machine(tiles, sram_kib));
    CHECK_NOTHROW(compiled_bytes(*point.options_read()->plan(costs), costs.machine()));
  }
  if (!point.facts.contains("over")) return;
  MeasuredCosts costs(small_machine(2, point.facts["over"]));
  CHECK_THROWS_AS((void)point.options_read()->plan(costs), UserError);
}

/// Runs a point with race checks on a machine, over which its own keys of the machine are set.
inline void check_run(const Point& point, const config::Json& machine) {
  config::Layers layers(
      config::Json{{"machine", machine}, {"workload", {{"kernel", point.kernel}}}}, "points.json");
  for (const std::string& each : point.sets) layers.set(each);
  const config::Config config =
      config::read_config(layers, point.kernel, kernels::catalogue(), config::machine_presets());
  const std::map<std::string, PredictedCycles> parts{
      {"total", PredictedCycles::total},
      {"compute", PredictedCycles::compute},
      {"exchange", PredictedCycles::exchange},
      {"compute and exchange", PredictedCycles::compute_and_exchange}};
  WorkloadView<Workload> view;
  if (point.facts.contains("off"))
    view = as_predicted(point.facts.at("off"), parts.at(point.facts.value("what", "total")));
  CHECK(run_options(*config.workload, config.machine, view) == "passed");
}

/// A point on a machine of so many tiles.
inline void check_on(Point point, std::uint32_t tiles) {
  CAPTURE(point.describe());
  if (point.facts.contains("fits")) return check_fits(point, tiles);
  if (tiles == 0) return check_run(point, {{"extends", "bow"}});
  point.sets.push_back(fmt::format("workload.used_tiles={}", tiles));
  check_run(point, config::resolved(small_machine(tiles, point.facts.value("sram_kib", 128U))));
}

/// Checks a kernel's points on machines of `tiles` tiles, by turns, and `sram_kib` (128), or on
/// that which they name (`tiles`: 0). With `off` they take the predicted cycles but for such a
/// share, or the part of them that is `what`. Of points with `fits` the programs only fit.
inline void check_right(const std::string& kernel) {
  std::size_t found = 0;
  for (const Point& stated : points("right")) {
    if (stated.kernel != kernel) continue;
    ++found;
    const std::vector<std::uint32_t> tiles = stated.facts.at("tiles");
    std::size_t number = 0;
    for (const Point& point : combinations(stated)) check_on(point, tiles[number++ % tiles.size()]);
  }
  REQUIRE(found > 0);
}

}  // namespace tessera::test
