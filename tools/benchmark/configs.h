#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace tessera::benchmark {

/// Times of whole runs of a shipped config, seconds.
struct MeasuredConfig {
  std::string name;
  /// Processor time, all threads: with each engine, without values, and without values where the
  /// folder has the answer.
  double interpreter = 0, native = 0, timing = 0, kept = 0;
  bool timed = false;  ///< values decide nothing: it ran without them
  /// Wall time of the native run, and its parts.
  double wall = 0, build = 0, run = 0, check = 0;
  double useful_flops = 0;
  nlohmann::ordered_json results;  ///< as in the report
};

/// Names of the files in configs/runs, in order.
std::vector<std::string> shipped_configs();
/// Runs `path` on two threads, a few times where that is quick. Throws if a run fails.
MeasuredConfig measure_config(const std::string& path);

/// Seconds on the wall of OpenBLAS's sgemm of size^3 on two threads, the best of three; nothing
/// where the library is not installed.
std::optional<double> seconds_of_sgemm(int size);

}  // namespace tessera::benchmark
