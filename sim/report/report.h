#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/config/config.h"
#include "sim/machine/machine_config.h"
#include "sim/program/image.h"
#include "sim/program/workload.h"
#include "sim/report/run_result.h"
#include "sim/report/tensor_files.h"
#include "sim/sensitivity/answer.h"

/// Files of a run: report.json, steps.csv, tiles.csv, traffic.csv, buffers.csv; and the summary on
/// the terminal. The same config gives the same bytes, except the section `host`.
namespace tessera::report {

/// A planned workload with its program, compiled and placed.
struct Built {
  std::unique_ptr<Workload> workload;
  program::Program program;
  program::Images images;
  double seconds = 0;  ///< host time for planning and compiling
};

/// The method of a check that had nothing to compare.
constexpr const char* kNotComputed = "not computed";

/// The outcome of a requested timing run (`run.values` false).
struct TimingRun {
  bool values = false;           ///< true: values were computed nevertheless
  std::string reason = {};       ///< why they were computed
  std::uint32_t tile_kinds = 0;  ///< classes of tiles that do the same at the same addresses
  std::uint64_t vertices = 0;    ///< vertex calls followed individually: first occurrences
};

/// Values that are only known after the run.
struct Outcome {
  RunResult result;
  CheckResult check{false, 0, 0, "off"};  ///< the worst result over all runs
  std::vector<CheckResult> checks;        ///< per run; empty if off
  unsigned threads = 1;                   ///< host threads
  double check_seconds = 0;
  std::optional<TimingRun> timing = {};  ///< if a timing run was requested
  /// The workload's results; may be null. Its `raster.csv` becomes the file raster.csv instead of a
  /// part of report.json: one row per spike, columns sample, layer, step, neuron.
  nlohmann::ordered_json results = {};
  std::vector<SavedTensor> tensors = {};  ///< the requested tensors
  void add(const CheckResult& one);
};

/// The files of one run as texts.
struct Report {
  nlohmann::ordered_json json;
  std::string steps_csv;
  std::string tiles_csv;
  std::string traffic_csv;
  std::string buffers_csv;
  std::string tile_steps_npy;         ///< empty: not recorded
  std::string loss_csv;               ///< empty: nothing was trained
  std::string raster_csv;             ///< empty: nothing spikes
  [[nodiscard]] bool passed() const;  ///< true also if `run.check` is off
};

Report make_report(const config::Config& config, const Built& built, const Outcome& outcome);

/// The sections of report.json that need no run: tessera, config, plan, prediction, memory.
nlohmann::ordered_json static_report(const config::Config& config, const Built& built);

/// The report of a config that was not run: tessera, identity, config, plan and prediction. It has
/// no keys for numbers that need a run.
nlohmann::ordered_json predicted_report(const config::Config& config,
                                        const sensitivity::Answer& answer);

/// One row per superstep of the measured region.
std::string steps_csv(const program::Images& images, const RunResult& result);

/// One row per training step: the lists of `results` as long as its `loss`. Empty without `loss`.
std::string loss_csv(const nlohmann::ordered_json& results);

/// One row per tile; with its class if the machine has `nodes`.
std::string tiles_csv(const program::Images& images, const RunResult& result,
                      const MachineConfig& machine);

/// Bytes delivered between groups of tiles, each at most 1/128 of the tiles; one row per pair of
/// groups [from_tile, from_tile + tiles) and [to_tile, to_tile + tiles).
std::string traffic_csv(const program::Program& program, const RunResult& result);

/// Names workload and machine: "gemm 4096x4096x4096 f16 on bow". Takes report.json, or an object
/// with its section config; gives the kernel alone if there is no problem.
std::string title(const nlohmann::ordered_json& report);

/// The first line of a summary: title() with the machine's size.
std::string heading(const nlohmann::ordered_json& report);

/// One screen of text from report.json, ending with a line feed.
std::string summary(const nlohmann::ordered_json& report);

/// The summary of `tessera check`: plan, prediction and memory.
std::string static_summary(const nlohmann::ordered_json& report);

/// The main numbers of a machine, for `tessera check` of its file.
std::string machine_summary(const MachineConfig& machine, const std::string& file);

/// runs/NAME-HASH, unless the config or the command line names a folder.
std::string output_folder(const config::Config& config);

/// Throws UserError if results could not be written to `folder`; creates nothing.
void require_writable(const std::string& folder);

/// Writes the files and returns their names; each appears whole or not at all. Throws UserError.
std::vector<std::string> write_report(const Report& report, const std::string& folder);

/// Removes the parts of a report that depend on values or on the host, or say whether values were
/// computed: then a timing run and a full run of the same config give the same report.
nlohmann::ordered_json without_values(nlohmann::ordered_json report);

/// Memory layout of the fullest tile, one row per address range: tile, name, category, number of
/// adjacent buffers of that name, address, bytes, and the first and last program step during which
/// it is live (-1: before the first).
std::string buffers_csv(const MachineConfig& machine, const program::Program& program,
                        const program::Images& images);

}  // namespace tessera::report
