#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/base/leftovers.h"
#include "sim/command/choices.h"
#include "sim/command/commands.h"
#include "sim/command/fit.h"
#include "sim/command/progress.h"
#include "sim/command/run_watch.h"
#include "sim/command/saved_tensors.h"
#include "sim/program/listing.h"
#include "sim/report/given.h"
#include "sim/report/unused.h"
#include "sim/sweep/folder_lock.h"
#include "sim/sweep/kept_run.h"
#include "sim/sweep/point_ids.h"
#include "sim/trace/run_trace.h"

namespace tessera::command {
namespace {

/// The arguments of `tessera run` and `tessera check`; empty: not given.
struct RunRequest {
  std::string file;
  std::vector<std::string> sets;
  std::string out;
  std::string threads;
  std::string engine;
  std::string max_cycles;
  std::string seed;
  std::string trace;
  std::string trace_tiles;
  bool timing = false;             ///< run.values false
  bool again = false;              ///< run even if the folder has the answer
  std::vector<std::string> saves;  ///< NAME=FILE.npy
  std::string fit;                 ///< check: find this key's limit that fits
  std::string tiles;               ///< check: list the program of these tiles
  bool quiet = false;
};

config::Config load(const RunRequest& request, const Simulator& simulator) {
  OptionSets sets(request.sets);
  sets.add_key("--threads", "run.threads", request.threads);
  sets.add_key("--engine", "run.engine", request.engine);
  sets.add_key("--max-cycles", "run.max_cycles", request.max_cycles);
  if (request.timing) sets.add("--timing", "run.values", "false");
  if (!request.trace_tiles.empty() && !request.trace.empty() && request.trace != "tiles")
    throw UserError(
        "--trace-tiles {}: found beside --trace {}, which shows no single tiles, allowed --trace "
        "tiles or none given",
        request.trace_tiles, request.trace);
  sets.add_key("--trace", "report.trace", request.trace);
  if (!request.trace_tiles.empty()) {
    const std::string option = "--trace-tiles " + request.trace_tiles;
    if (request.trace.empty()) sets.add(option, "report.trace", "tiles");
    // Always a string, even if it reads as a number.
    sets.add(option, "report.trace_tiles", config::Json(request.trace_tiles).dump());
  }
  for (const char* const key : {"run.seed", "workload.seed"})
    if (!request.seed.empty()) sets.refuse_other("--seed", key, request.seed);
  config::Config config = config::load_config(request.file, request.sets, simulator.catalogue,
                                              simulator.machines, {sets.options(), request.seed});
  if (!request.out.empty()) config.report.out = request.out;
  return config;
}

/// Null if the config requests no trace.
std::unique_ptr<trace::RunTrace> open_trace(const config::Config& config,
                                            const report::Built& built,
                                            const trace::Settings& settings,
                                            const std::string& folder) {
  if (config.report.trace == TraceDetail::none) return nullptr;
  return std::make_unique<trace::RunTrace>(settings, built.images, folder);
}

/// The trace's place, or the reason why there is none.
std::string keep_stopped(trace::RunTrace& trace, const NoProgress& why, const std::string& folder) {
  try {
    trace.stop(why.what());
    trace.commit();
    return fmt::format("{}  results   {}", trace.summary(), folder);
  } catch (const Error& error) {
    return error.what();
  }
}

/// A run without progress keeps its trace, which shows what happened before.
report::Outcome run_traced(const config::Config& config, const report::Built& built,
                           const Observers& observers, const std::string& folder,
                           const Simulator& simulator) {
  try {
    return simulator.run(config, built, observers);
  } catch (const NoProgress& error) {
    if (observers.trace == nullptr) throw;
    throw NoProgress(
        fmt::format("{}\n{}", error.what(), keep_stopped(*observers.trace, error, folder)));
  }
}

/// A run's parts, and its trace if there is one.
struct FinishedRun {
  report::Built built;
  std::unique_ptr<trace::RunTrace> trace;
  report::Outcome outcome;
  std::vector<TensorFile> files;
};
FinishedRun run_watched(const config::Config& config, const trace::Settings& settings,
                        const std::string& folder, const RunRequest& request,
                        const Simulator& simulator) {
  const std::vector<TensorFile> saves = files_to_save(request.saves);
  RunWatch watch(request.quiet);
  FinishedRun ran{config.locating([&] { return simulator.build(config); }), nullptr, {}, {}};
  ran.files = tensor_files(saves, config, ran.built.program, folder);
  watch.expect(static_cast<double>(ran.built.workload->prediction().cycles) * config.machine.tiles);
  ran.trace = open_trace(config, ran.built, settings, folder);
  ran.outcome =
      run_traced(config, ran.built, {ran.trace.get(), watch.progress(), tensors_of(ran.files)},
                 folder, simulator);
  return ran;
}

/// A timing run's answer in the folder; nullopt if a trace is requested, which the folder lacks.
std::optional<sweep::KeptRun> kept_run(const config::Config& config, const std::string& folder) {
  if (config.run.values || config.report.trace != TraceDetail::none) return std::nullopt;
  const std::string id = sweep::PointIds(sweep::program_identity()).of(config);
  return sweep::KeptRun(folder, id, config.resolved.at("report"));
}

void print(const config::Json& report, const config::Config& config, const std::string& more,
           const std::string& folder) {
  fmt::print("{}{}{}{}{}  results   {}\n", report::summary(report),
             report::pinned_line(config, report),
             report::defaults_line(config.layers.section("machine"), config.machine),
             report::unused_lines(report, report::given_keys(config)), more, folder);
}

/// Runs a config, writes the report's files, prints the summary. Does not repeat a timing run whose
/// answer is in the folder.
ExitCode run(const RunRequest& request, const Simulator& simulator) {
  const config::Config config = load(request, simulator);
  if (!config.run.values && !request.saves.empty())
    throw UserError(
        "--save {}: found with --timing (run.values false), allowed without: no values "
        "are computed",
        request.saves.front());
  const std::string folder = report::output_folder(config);
  report::require_writable(folder);
  const NewFolder made(folder);
  const sweep::FolderLock lock(folder, {"run", config.name});
  remove_leftovers(folder);
  const std::optional<sweep::KeptRun> kept = kept_run(config, folder);
  if (kept && !request.again) {
    if (const std::optional<config::Json> report = kept->find()) {
      if (!request.quiet)
        print(*report, config,
              "  kept      the answer of this program's earlier run; --again simulates\n", folder);
      trace::RunTrace::remove_files(folder);
      return ExitCode::done;
    }
  }
  sweep::KeptRun::forget(folder);
  const trace::Settings settings = config.locating([&] { return trace::settings_of(config); });
  const FinishedRun ran = run_watched(config, settings, folder, request, simulator);
  const report::Report report = report::make_report(config, ran.built, ran.outcome);
  if (ran.trace) {
    ran.trace->commit();
  } else {
    trace::RunTrace::remove_files(folder);  // files of an earlier run
  }
  const std::string tensors = write_tensors(ran.files, ran.outcome, folder);
  const std::vector<std::string> files = report::write_report(report, folder);
  if (kept && report.passed()) kept->keep(files);
  if (!request.quiet)
    print(report.json, config, (ran.trace ? ran.trace->summary() : "") + tensors, folder);
  if (report.passed()) return ExitCode::done;
  tell(fmt::format("{}: the result is wrong: {}\n", request.file, ran.outcome.check.problem));
  return ExitCode::check_failed;
}

/// Checks a machine file and prints the machine's totals.
ExitCode check_machine(const RunRequest& request, const Simulator& simulator) {
  const char* option = !request.sets.empty()    ? "--set"
                       : !request.fit.empty()   ? "--fit"
                       : !request.tiles.empty() ? "--tiles"
                       : !request.seed.empty()  ? "--seed"
                                                : nullptr;
  if (option != nullptr)
    throw UserError(
        "tessera check: {}: found beside the machine {}, allowed beside a "
        "config, which has one: {{\"machine\": \"{}\", ...}}",
        option, request.file, request.file);
  const config::MachineFile read = config::read_machine_file(request.file, simulator.machines);
  fmt::print("{}{}", report::machine_summary(read.machine, request.file),
             report::defaults_line(read.layers, read.machine));
  return ExitCode::done;
}

/// Prints the memory and program of chosen tiles.
void list_tiles(const std::string& chosen, const program::Program& program) {
  try {
    for (const TileId tile : trace::tiles_of(chosen, program.tiles()))
      fmt::print("{}", program::tile_listing(program, tile));
  } catch (const KeyError& error) {
    throw UserError("tessera check: --tiles: {}", error.problem());
  }
}

/// Prints a config's plan, predicted cycles and memory table; or the program of some tiles; or a
/// key's limit that fits.
ExitCode check(const RunRequest& request, const Simulator& simulator) {
  if (config::is_machine_file(request.file, simulator.machines))
    return check_machine(request, simulator);
  if (!request.fit.empty() && !request.tiles.empty())
    throw UserError("tessera check: --tiles: found beside --fit, allowed one of them");
  const config::Config config = load(request, simulator);
  if (!request.fit.empty()) {
    fmt::print("{}\n", text_of(find_fit(config, request.fit, simulator)));
    return ExitCode::done;
  }
  const report::Built built = config.locating([&] {
    const RunWatch watch(false);
    return simulator.outline(config);
  });
  if (!request.tiles.empty()) {
    list_tiles(request.tiles, built.program);
    return ExitCode::done;
  }
  static_cast<void>(tensor_files({}, config, built.program, ""));  // checks the names
  const config::Json report = report::static_report(config, built);
  fmt::print("{}{}{}\n{}", report::static_summary(report), report::pinned_line(config, report),
             report::tensor_table(built.program),
             program::memory_table(built.images, config.machine));
  return ExitCode::done;
}

}  // namespace

Command run_command(const Simulator& simulator) {
  const auto request = std::make_shared<RunRequest>();
  return {"run",
          "simulate a config and report its results",
          {{"CONFIG", &request->file, "the config file; - reads standard input", kRequired},
           set_option(&request->sets, simulator),
           {"--out", &request->out, "output folder (default: runs/NAME-HASH)"},
           {"--threads", &request->threads, "host threads (run.threads)"},
           choosing_key({"--engine", &request->engine, "native or interpreter (run.engine)"},
                        "run.engine", simulator),
           {"--max-cycles", &request->max_cycles, "limit on simulated cycles (run.max_cycles)"},
           {"--seed", &request->seed, "seed of data and generators (workload.seed and run.seed)"},
           choosing_key(
               {"--trace", &request->trace,
                "trace files: none, phases or tiles (trace.pftrace and trace.vcd; report.trace)"},
               "report.trace", simulator),
           {"--trace-tiles", &request->trace_tiles,
            "traced tiles, such as 0-63,100, or all (report.trace_tiles; implies --trace tiles)"},
           {"--save", &request->saves,
            "NAME=FILE.npy: save an input or result as it is after the run (weights as trained); "
            "tessera check lists the names (report.tensors)"},
           {"--timing", &request->timing,
            "timing run: cycles, traffic and energy, but no values and no check (run.values)"},
           {"--again", &request->again,
            "simulate again even if the folder has the result of the same timing run"},
           {"--quiet", &request->quiet, "print no summary and no progress"}},
          [request, &simulator] { return run(*request, simulator); }};
}

Command check_command(const Simulator& simulator) {
  const auto request = std::make_shared<RunRequest>();
  return {"check",
          "print the plan, predicted cycles and memory of a config, or a machine's numbers; runs "
          "nothing",
          {{"CONFIG", &request->file, "a config file or a machine file; - reads standard input",
            kRequired},
           set_option(&request->sets, simulator),
           {"--seed", &request->seed, "seed of data and generators"},
           {"--tiles", &request->tiles,
            "tiles, such as 0-3,100, or all: print only their contents and work, as JSON Lines"},
           {"--fit", &request->fit,
            "an integer key: find the smallest value of a machine key, or the largest of a "
            "workload key, that fits"}},
          [request, &simulator] { return check(*request, simulator); }};
}

}  // namespace tessera::command
