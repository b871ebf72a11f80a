#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include <doctest/doctest.h>

#include "tests/cli/command.h"
#include "tests/run/machine_points.h"

namespace tessera::test {

/// Runs a point on `threads` host threads; the report without the parts that may differ by host.
inline Json run_point(const CommandFolder& folder, const Point& run, int threads) {
  const std::string command = fmt::format(
      "run --out result --set run.check_races=true --threads {} {}", threads, run.arguments());
  CAPTURE(command);
  folder.done(command);
  auto report = folder.json("result/report.json");
  report.erase("host");
  report.at("config").at("run").erase("threads");
  return report;
}

constexpr std::size_t kThreaded = 4;  ///< one in `kThreaded` points is also run on several threads

/// Checks that every point passes its check and that predicted cycles are within 10 % in the median
/// and 25 % at worst. Some points must give the same report on 2 or 3 host threads as on one.
inline void check_points(std::span<const MachinePoint> points) {
  std::vector<double> misses;
  for (const MachinePoint& point : points) {
    const std::string name = describe(point);
    CAPTURE(name);
    const CommandFolder folder;
    const Point run = run_of(point);
    const Json report = run_point(folder, run, 1);
    CHECK(report.at("check").at("passed") == true);
    CHECK(report.at("bound").at("times_bound") >= 1);
    if (report.at("traffic").contains("ports")) CHECK(report["traffic"]["ports"]["share"] <= 1);
    if (misses.size() % kThreaded == 0)
      CHECK(run_point(folder, run, misses.size() % (2 * kThreaded) == 0 ? 2 : 3) == report);
    const auto cycles = report.at("time").at("cycles").get<double>();
    const auto predicted = report.at("prediction").at("cycles").get<double>();
    const double miss = std::abs(predicted / cycles - 1);
    CHECK_MESSAGE(miss <= 0.25, "predicted ", predicted, ", simulated ", cycles);
    misses.push_back(miss);
  }
  std::sort(misses.begin(), misses.end());
  CHECK(misses[misses.size() / 2] <= 0.10);
}

}  // namespace tessera::test
