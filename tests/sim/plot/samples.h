#pragma once

#include <utility>
#include <vector>

#include "sim/config/json_text.h"
#include "sim/plot/figure.h"

namespace tessera::test {

/// Runs with axes as given and so many cycles, of a machine with one roof.
inline plot::Source runs(const std::vector<std::pair<plot::Json, double>>& given) {
  plot::Source source;
  source.rows.origin = "runs";
  for (const auto& [axes, cycles] : given) {
    plot::Json report = config::parse_json(R"({"config": {"machine": {"name": "m", "tiles": 4,
      "clock_ghz": 1.0, "tile": {"matrix_unit": {"f16": {"inputs": 16, "outputs": 16, "interval": 1}},
      "load_bytes_per_slot": 16, "store_bytes_per_slot": 8},
      "fabric": {"receive_bytes_per_cycle": 4}}}, "work": {"useful_flops": 4000},
      "traffic": {"exchange_bytes": 1000},
      "energy": {"work": {"bytes_loaded": 60, "bytes_stored": 40}}, "memory": {"max_tile_bytes": 100}})",
                                           "test");
    report["time"] = {{"cycles", cycles}};
    report["rate"] = {{"useful_flops_per_second", 4e12 / cycles}};
    source.rows.rows.push_back({axes, report});
  }
  for (const auto& [path, value] : given.front().first.items()) source.rows.axes.push_back(path);
  return source;
}

}  // namespace tessera::test
