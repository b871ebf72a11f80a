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

/// Files of a run: report.json, steps.csv, tiles.csv, traffic.csv, buffers.csv and the summary on
/// the terminal. The same config gives the same bytes, the section `host` apart.
namespace tessera::report {

/// A planned workload with its program, compiled and placed.
struct Built {
  std::unique_ptr<Workload> workload;
  program::Program program;
  program::Images images;
  double seconds = 0;  ///< host time for planning and compiling
};

/// Method of a check that had nothing to compare.
constexpr const char* kNotComputed = "not computed";

/// The outcome of a requested timing run (`run.values` false).
struct TimingRun {
  bool values = false;           ///< computed after all
  std::string reason = {};       ///< why
  std::uint32_t tile_kinds = 0;  ///< tiles of a kind do the same at the same addresses
  std::uint64_t vertices = 0;    ///< first occurrences of calls on workers, followed one by one
};

/// Values that are only known after the run.
struct Outcome {
  RunResult result;
  CheckResult check{false, 0, 0, "off"};  ///< the worst of all runs
  std::vector<CheckResult> checks;        ///< by run; empty if off
  unsigned threads = 1;                   ///< host threads
  double check_seconds = 0;
  std::optional<TimingRun> timing = {};  ///< where one was wanted
  /// The workload's results; may be null. `raster.csv` in it is no part of report.json but the text
  /// of raster.csv: a row a spike, columns sample, layer, step, neuron.
  nlohmann::ordered_json results = {};
  std::vector<SavedTensor> tensors = {};  ///< those that were asked for
  void add(const CheckResult& one);
};

/// The files of one run as texts, and whether its check passed.
struct Report {
  nlohmann::ordered_json json;
  std::string steps_csv;
  std::string tiles_csv;
  std::string traffic_csv;
  std::string buffers_csv;
  std::string tile_steps_npy;         ///< empty: not recorded
  std::string loss_csv;               ///< empty: nothing was trained
  std::string raster_csv;             ///< empty: nothing spikes
  [[nodiscard]] bool passed() const;  ///< true too if `run.check` is off
};

Report make_report(const config::Config& config, const Built& built, const Outcome& outcome);

/// The sections of report.json that need no run: tessera, config, plan, prediction, memory.
nlohmann::ordered_json static_report(const config::Config& config, const Built& built);

/// The report of a config that was not run: tessera, identity, config, plan and prediction. What
/// only a run shows has no key.
nlohmann::ordered_json predicted_report(const config::Config& config,
                                        const sensitivity::Answer& answer);

/// One row a superstep of the measured region.
std::string steps_csv(const program::Images& images, const RunResult& result);

/// One row a step of training: the lists of `results` that are as long as `loss`. Empty without
/// one.
std::string loss_csv(const nlohmann::ordered_json& results);

/// One row a tile; with its class where the machine has nodes of several.
std::string tiles_csv(const program::Images& images, const RunResult& result,
                      const MachineConfig& machine);

/// Bytes delivered from groups of at most 1/128 of the tiles to groups, a row a pair: the groups
/// [from_tile, from_tile + tiles) and [to_tile, to_tile + tiles).
std::string traffic_csv(const program::Program& program, const RunResult& result);

/// Names workload and machine: "gemm 4096x4096x4096 f16 on bow". Takes report.json, or an object
/// with its section config; the kernel alone where no problem is given.
std::string title(const nlohmann::ordered_json& report);

/// The first line of a summary: the same with the machine's size.
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

/// Writes the files, whose names it returns; each appears whole or not at all. Throws UserError.
std::vector<std::string> write_report(const Report& report, const std::string& folder);

/// A report without what depends on values, on the host, or says whether values were computed: the
/// same of a timing run as of a full run of the same config.
nlohmann::ordered_json without_values(nlohmann::ordered_json report);

/// Layout of the fullest tile's memory, a row a range of addresses: tile, name, category, buffers
/// (of that name side by side), address, bytes, and the first and last step of the program during
/// which it holds something (-1: before the first).
std::string buffers_csv(const MachineConfig& machine, const program::Program& program,
                        const program::Images& images);

}  // namespace tessera::report
