#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace tessera::benchmark {

/// Times of whole runs of a shipped config, in seconds.
struct MeasuredConfig {
  std::string name;
  /// Processor time of all threads: with each engine, without values, and without values if the
  /// folder has the answer.
  double interpreter = 0, native = 0, timing = 0, kept = 0;
  bool timed = false;  ///< a run without values was possible
  /// Wall time of the native run, and of its parts.
  double wall = 0, build = 0, run = 0, check = 0;
  double useful_flops = 0;
  nlohmann::ordered_json results;  ///< as in the report
};

/// Names of the files in configs/runs, sorted.
std::vector<std::string> shipped_configs();
/// Runs `path` on two threads, several times if that is quick. Throws if a run fails.
MeasuredConfig measure_config(const std::string& path);

/// Wall seconds of OpenBLAS's sgemm of size^3 on two threads, the best of three; nullopt if the
/// library is not installed.
std::optional<double> seconds_of_sgemm(int size);

}  // namespace tessera::benchmark
