#pragma once

#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/base/errors.h"
#include "tests/kernels/planned.h"
#include "tests/kernels/unit_shapes.h"

/// The kernels' points in the list `right`: their results must be correct on small machines.
namespace tessera::test {

/// Plans and compiles a point with each SRAM size of `fits`, in KiB. With `over` KiB on two tiles
/// planning must be refused.
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

/// Runs a point with race checks on.
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

/// Checks a point on a machine of `tiles` tiles, in a folder with its files.
inline void check_on(const Point& point, std::uint32_t tiles) {
  CAPTURE(point.describe());
  const InFolder folder(point);
  if (point.facts.contains("fits")) return check_fits(point, tiles);
  check_run(point, config_of(point, tiles));
  if (point.facts.contains("report") || point.facts.contains("than"))
    check_planned(with(point, {{"tiles", {tiles}}}));
}

/// With `shapes`: one point for each pair of input and partial types, on every shape that the
/// matrix unit supports for it and on machines without a unit.
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

/// Checks the points of a kernel (empty: of all kernels). Point i runs on the i-th of its `tiles`,
/// cyclically, with `sram_kib` (default 128); `tiles` 0: on the machine that the point names. With
/// `off` the simulated cycles, or the part `what` of them, must be within that share of the
/// prediction. Points with `fits` only check that their programs fit.
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
