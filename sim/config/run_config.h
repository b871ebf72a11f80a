#pragma once

#include <cstdint>
#include <string>

#include "sim/config/fields.h"
#include "sim/engine/engine.h"
#include "sim/program/workload.h"

/// How a workload is run and what is written: the sections `run` and `report`. Keys, defaults and
/// sentences are in run_config.cpp.
namespace tessera {

/// The measured region: the device's work alone, or also host transfers before, during and after.
enum class Measure { device, host };

/// Content of the trace files: nothing, the whole machine, or also single tiles.
enum class TraceDetail { none, phases, tiles };

struct RunConfig {
  std::uint32_t threads = 0;  ///< host threads; 0: one per core
  engine::Engine engine = engine::Engine::native;
  CheckMode check = CheckMode::automatic;
  bool values = true;  ///< false: a timing run, which reports cycles, traffic and energy only
  bool check_races = false;
  Measure measure = Measure::device;
  std::uint64_t max_cycles = 100'000'000'000;
  std::uint64_t seed = 1;
};

struct ReportConfig {
  std::string out;                     ///< empty: runs/NAME-HASH
  std::uint64_t tile_steps = 100'000;  ///< limit of tiles x rows in tile_steps.npy; 0: no file
  TraceDetail trace = TraceDetail::none;
  std::string trace_tiles = "0-63";
  bool trace_workers = true;
  std::string tensors;                  ///< names, or all; empty: none
  std::uint64_t trace_limit_mib = 256;  ///< limit of each trace file
};

void describe(config::Fields& fields, RunConfig& run);
void describe(config::Fields& fields, ReportConfig& report);

/// The spelling in configs: `automatic` is "auto".
std::string_view name_of(CheckMode mode);
std::string_view name_of(engine::Engine engine);
/// The engine that runs most of the tile code: translated code records no accesses and does not
/// wait for other contexts.
engine::Engine engine_of(const RunConfig& run, const TileConfig& tile);

}  // namespace tessera
