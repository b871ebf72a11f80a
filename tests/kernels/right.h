#pragma once

#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/base/errors.h"
#include "tests/kernels/planned.h"
#include "tests/kernels/unit_shapes.h"

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

/// Runs a point with race checks.
inline void check_run(const Point& point, const config::Config& config) {
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

/// A point on a machine of so many tiles, in a folder of its files.
inline void check_on(const Point& point, std::uint32_t tiles) {
  CAPTURE(point.describe());
  const InFolder folder(point);
  if (point.facts.contains("fits")) return check_fits(point, tiles);
  check_run(point, config_of(point, tiles));
  if (point.facts.contains("report") || point.facts.contains("than"))
    check_planned(with(point, {{"tiles", {tiles}}}));
}

/// With `shapes` a point of each type of inputs and of partials with every shape that the unit may
/// have for it, and none.
inline std::vector<Point> with_shapes(const Point& stated) {
  if (!stated.facts.contains("shapes")) return {stated};
  std::vector<Point> made;
  for (const Types& types : kTypes) {
    Point point = with_types(stated, types);
    for (const MachineConfig& machine : machines_of_every_shape(types, 1))
      point.facts["each"]["shapes"].push_back(unit_of(machine));
    made.push_back(std::move(point));
  }
  return made;
}

/// Checks the points of a kernel (empty: of all) on machines of `tiles` tiles, by turns, and
/// `sram_kib` (128), or on the machine that they name (`tiles`: 0). With `off` they take the
/// predicted cycles but for such a share, or the part of them that is `what`. Points with `fits`
/// only check that the programs fit.
inline void check_right(const std::string& kernel) {
  std::size_t found = 0;
  for (const Point& stated : points("right")) {
    if (!kernel.empty() && stated.kernel != kernel) continue;
    ++found;
    std::size_t number = 0;
    for (const Point& shaped : with_shapes(stated))
      for (const Point& point : combinations(shaped)) {
        const Json& tiles = point.facts.at("tiles");
        check_on(point, tiles[number++ % tiles.size()]);
      }
  }
  REQUIRE(found > 0);
}

}  // namespace tessera::test
