#include "sim/config/run_config.h"

namespace tessera {
namespace {

constexpr config::Names<engine::Engine, 2> kEngines = {
    {{"interpreter", engine::Engine::interpreter}, {"native", engine::Engine::native}}};
constexpr config::Names<Measure, 2> kMeasures = {
    {{"device", Measure::device}, {"host", Measure::host}}};
constexpr config::Names<CheckMode, 4> kCheckModes = {{{"auto", CheckMode::automatic},
                                                      {"full", CheckMode::full},
                                                      {"sample", CheckMode::sample},
                                                      {"off", CheckMode::off}}};

constexpr config::Names<TraceDetail, 3> kTraceDetails = {
    {{"none", TraceDetail::none}, {"phases", TraceDetail::phases}, {"tiles", TraceDetail::tiles}}};

}  // namespace

std::string_view name_of(CheckMode mode) { return config::name_of(kCheckModes, mode); }
std::string_view name_of(engine::Engine engine) { return config::name_of(kEngines, engine); }

engine::Engine engine_of(const RunConfig& run, const TileConfig& tile) {
  const bool interpreted = run.check_races || shares_pipeline(tile) || !engine::native_available();
  return interpreted ? engine::Engine::interpreter : run.engine;
}

void describe(config::Fields& fields, RunConfig& run) {
  fields.field({"threads", "host threads; 0: one per core. Results do not depend on it"},
               run.threads, {0, 1024});
  fields.field({"engine",
                "engine that executes tile code; native: hot code is translated to host code on "
                "x86-64 hosts. Results do not depend on it"},
               run.engine, kEngines);
  fields.field({"check",
                "extent of the comparison with the reference; auto: full, or sampled if a full "
                "reference would take long"},
               run.check, kCheckModes);
  fields.field({"values",
                "false: a timing run, which computes no values and checks none; cycles, traffic "
                "and energy are those of a full run. A program whose time depends on values runs "
                "in full, and the report says why"},
               run.values);
  fields.field({"check_races",
                "fault if workers of one run, or a transfer in flight, access the same bytes and "
                "one writes; memory never written reads as NaN"},
               run.check_races);
  fields.field({"measure",
                "device: the program alone; host: also the transfers of its inputs and results "
                "over the host link, before, during and after it"},
               run.measure, kMeasures);
  fields.field({"max_cycles", "limit of the run; a longer run ends with exit code 3", "cycles"},
               run.max_cycles, {1, std::numeric_limits<std::uint64_t>::max()});
  fields.field({"seed", "seed of the workers' random generators (rnd.64)"}, run.seed);
}

void describe(config::Fields& fields, ReportConfig& report) {
  fields.field({"out", "output folder; empty: runs/NAME-HASH"}, report.out);
  fields.field({"tile_steps",
                "write tile_steps.npy: times of each tile in each superstep, limited to this many "
                "values (tiles x rows); beyond it neighbouring supersteps are added; 0: no file"},
               report.tile_steps, {0, 1'000'000'000});
  fields.field({"tensors",
                "tensors to write to tensors/NAME.npy, such as A,C, or all, as they are after the "
                "run (weights as trained); tessera check lists their names"},
               report.tensors);
  fields.field({"trace",
                "write trace.pftrace (Perfetto) and trace.vcd (GTKWave); phases: of the machine, "
                "with counters; tiles: also of trace_tiles"},
               report.trace, kTraceDetails);
  fields.field(
      {"trace_tiles", "traced tiles, such as 0-63,100, or all; a range may end beyond the machine"},
      report.trace_tiles);
  fields.field({"trace_workers", "trace the worker contexts of those tiles too"},
               report.trace_workers);
  fields.field({"trace_limit_mib",
                "size limit of each trace file; beyond it tiles, then everything is left out, and "
                "the sufficient limit is named",
                "MiB"},
               report.trace_limit_mib, {1, 1'048'576});
  const auto found = config::name_of(kTraceDetails, report.trace);
  for (const char* const key : {"trace_tiles", "trace_workers"})
    fields.require_read(report.trace == TraceDetail::tiles, key,
                        "is used by trace tiles only, found trace {}", found);
  fields.require_read(report.trace != TraceDetail::none, "trace_limit_mib",
                      "is used by a trace only, found trace {}", found);
}

}  // namespace tessera
