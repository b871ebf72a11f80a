#pragma once

#include <cmath>
#include <string>

#include <doctest/doctest.h>

#include "tests/kernels/drawn_points.h"
#include "tests/kernels/run_workload.h"

/// Compares predicted and simulated cycles at random points.
namespace tessera::test {

struct Predicted {
  std::string point;  ///< the problem and the machine's differences from the default one
  double ratio = 0;   ///< predicted / simulated cycles

  [[nodiscard]] double miss() const { return std::abs(ratio - 1); }
};

/// Draws a machine and one of the kernel's problems, and runs it.
inline Predicted predict_drawn(const Point& stated, MachinePoints& points) {
  MachineConfig machine = points.machine();
  if (stated.facts.contains("sram_kib")) {
    const std::vector<std::uint32_t> sizes = stated.facts.at("sram_kib");
    machine.tile.sram_kib = sizes[points.below(sizes.size())];
    points.external(machine);
  }
  if (stated.facts.contains("unit"))
    draw_unit(points, stated.facts.at("unit"), machine.tile.matrix_unit);
  const Point point = drawn_point(stated, points, machine.tiles);
  const auto ratio = [](const RunResult& result, const Workload& workload) {
    return fmt::format(" {}", static_cast<double>(workload.prediction().cycles) /
                                  static_cast<double>(result.time.total().count()));
  };
  const config::Json differs =
      differences(config::resolved(MachineConfig{}), config::resolved(machine));
  CAPTURE(differs.dump());
  const std::string said = run_options(*point.options_read(), machine, ratio);
  CAPTURE(point.describe());
  CAPTURE(said);
  REQUIRE(said.starts_with("passed "));
  return {fmt::format("{}\n  machine {}", point.describe(), differs.dump()),
          std::stod(said.substr(sizeof "passed"))};
}

}  // namespace tessera::test
