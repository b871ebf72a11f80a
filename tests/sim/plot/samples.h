#pragma once

#include <string>
#include <vector>

#include "sim/config/json_text.h"
#include "sim/plot/figure.h"

namespace tessera::test {

/// Runs of a machine with one roof. A row holds the values of its axes, of which the last may be
/// missing, and its cycles.
inline plot::Source runs(const std::vector<std::string>& axes,
                         const std::vector<std::vector<plot::Json>>& given) {
  plot::Source source;
  source.rows.origin = "runs";
  source.rows.axes = axes;
  for (const std::vector<plot::Json>& row : given) {
    plot::Json at = plot::Json::object();
    for (std::size_t i = 0; i + 1 < row.size(); ++i) at[axes.at(i)] = row[i];
    const auto cycles = row.back().get<double>();
    plot::Json report = config::parse_json(R"({"config": {"machine": {"name": "m", "tiles": 4,
      "clock_ghz": 1.0, "tile": {"matrix_unit": {"f16": {"inputs": 16, "outputs": 16, "interval": 1}},
      "load_bytes_per_slot": 16, "store_bytes_per_slot": 8},
      "fabric": {"receive_bytes_per_cycle": 4}}}, "work": {"useful_flops": 4000},
      "traffic": {"exchange_bytes": 1000},
      "energy": {"work": {"bytes_loaded": 60, "bytes_stored": 40}}, "memory": {"max_tile_bytes": 100}})",
                                           "test");
    report["time"] = {{"cycles", cycles}};
    report["rate"] = {{"useful_flops_per_second", 4e12 / cycles}};
    source.rows.rows.push_back({at, report});
  }
  return source;
}

inline plot::Request request(const std::string& x, const std::string& y = "time.cycles") {
  return {.x = x, .y = {y}};
}

}  // namespace tessera::test
