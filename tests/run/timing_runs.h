#pragma once

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/report/report.h"
#include "tests/cli/command.h"
#include "tests/kernels/points.h"

namespace tessera::test {

/// A run's output without values: all files except the host section and the check; or the exit code
/// and message of a failed run.
struct TimedFiles {
  int code = 0;
  std::string error;
  Json report;
  std::string tables;
  bool values = true;  ///< values were computed
  std::string reason;  ///< why a timing run computed values
};

inline TimedFiles timed_files(const CommandFolder& folder, const std::string& arguments) {
  const Answer answer =
      folder.call("run --quiet --out result --set report.tile_steps=64 " + arguments);
  TimedFiles files{answer.code, answer.err, {}, {}, true, {}};
  if (answer.code != 0) return files;
  const Json report = folder.json("result/report.json");
  if (report.contains("timing")) {
    files.values = report.at("timing").at("values").get<bool>();
    files.reason = report.at("timing").value("reason", "");
  }
  files.report = report::without_values(report);
  for (const char* name :
       {"steps.csv", "tiles.csv", "traffic.csv", "buffers.csv", "tile_steps.npy"})
    files.tables += folder.read(fmt::format("result/{}", name));
  return files;
}

/// Checks that a timing run of the point reports the same as a full run, or fails in the same way.
/// True if it succeeded without computing values.
inline bool same_without_values(const Point& point, const std::string& more = "") {
  const CommandFolder folder;
  const std::string arguments = fmt::format("{} {}", more, point.arguments());
  const TimedFiles timed = timed_files(folder, "--timing " + arguments);
  const TimedFiles full = timed_files(folder, "--set run.check=off " + arguments);
  CAPTURE(arguments);
  CAPTURE(timed.reason);
  CHECK(timed.code == full.code);
  CHECK(timed.error == full.error);
  CHECK(timed.report == full.report);
  CHECK(timed.tables == full.tables);
  return timed.code == 0 && !timed.values;
}

}  // namespace tessera::test
