#include "sim/report/run_folder.h"

#include <algorithm>
#include <filesystem>

#include "sim/base/errors.h"
#include "sim/config/json_text.h"
#include "sim/data/read_file.h"
#include "sim/report/tile_steps.h"
#include "sim/sensitivity/result.h"

namespace tessera::report {
using Json = nlohmann::ordered_json;

namespace {

namespace fs = std::filesystem;

/// The numbers that analysis and page need.
constexpr const char* kNumbers[] = {"/config/machine/tiles",
                                    "/config/machine/clock_ghz",
                                    "/time/cycles",
                                    "/time/compute_cycles",
                                    "/time/exchange_cycles",
                                    "/time/sync_cycles",
                                    "/time/link_cycles",
                                    "/time/host_cycles",
                                    "/time/wait_cycles",
                                    "/time/supersteps",
                                    "/time/seconds",
                                    "/work/instructions",
                                    "/work/flops",
                                    "/work/useful_flops",
                                    "/rate/flops_per_second",
                                    "/rate/fraction_of_peak",
                                    "/rate/peak_per_second",
                                    "/rate/useful_flops_per_second",
                                    "/memory/max_tile_bytes",
                                    "/memory/capacity_bytes_per_tile",
                                    "/traffic/exchange_bytes"};

constexpr const char* kTexts[] = {"/config/machine/name", "/config/workload/kernel",
                                  "/rate/peak_type"};

template <class Holds>
void require(const Json& report, const char* path, const std::string& file, const char* what,
             Holds holds) {
  const Json::json_pointer pointer(path);
  if (report.contains(pointer) && holds(report.at(pointer))) return;
  std::string key(path + 1);
  std::ranges::replace(key, '/', '.');
  throw ConfigError(file, key, "no {} stands there: not a report of tessera run", what);
}

Json read_report(const std::string& file) {
  Json report = config::parse_json(data::read_file(file), file);
  for (const char* path : kNumbers) {
    require(report, path, file, "number", [](const Json& value) { return value.is_number(); });
  }
  for (const char* path : kTexts) {
    require(report, path, file, "text", [](const Json& value) { return value.is_string(); });
  }
  return report;
}

Table read_table(const fs::path& file, const std::vector<std::string_view>& needed) {
  return parse_table(data::read_file(file), file.string(), needed);
}

}  // namespace

RunFolder read_run(const std::string& folder) {
  if (!fs::is_directory(folder)) {
    throw UserError("{}: found no folder there, expected one that tessera run has written", folder);
  }
  const fs::path path(folder);
  RunFolder run{folder, read_report((path / "report.json").string()), {}, {}, {}, {}, {}, nullptr};
  run.steps = read_table(
      path / "steps.csv",
      {"name", "kind", "start_cycle", "cycles", "compute_cycles", "exchange_cycles", "sync_cycles",
       "link_cycles", "host_cycles", "wait_cycles", "last_tile", "mean_compute_cycles",
       "most_compute_cycles", "exchange_bytes", "instructions", "flops", "live_bytes"});
  run.tiles =
      read_table(path / "tiles.csv", {"tile", "compute_cycles", "exchange_cycles", "sync_cycles",
                                      "instructions", "flops", "sent_bytes", "received_bytes"});
  run.traffic = read_table(path / "traffic.csv", {"from_tile", "to_tile", "tiles", "bytes"});
  const fs::path buffers = path / "buffers.csv";
  if (fs::exists(buffers)) {
    run.buffers = read_table(buffers, {"tile", "name", "category", "buffers", "address", "bytes",
                                       "first_step", "last_step"});
  }
  const fs::path raster = path / "raster.csv";
  if (fs::exists(raster)) run.raster = read_table(raster, {"sample", "layer", "step", "neuron"});
  const fs::path tile_steps = path / "tile_steps.npy";
  if (fs::exists(tile_steps)) {
    run.tile_steps = read_tile_steps(tile_steps.string(), run.tiles.rows, run.steps.rows);
  }
  if (sensitivity::is_stored(folder)) {
    Json stored = sensitivity::read(folder);
    if (stored.value("config", Json()) == run.report.at("config"))
      run.sensitivity = std::move(stored);
  }
  return run;
}

}  // namespace tessera::report
