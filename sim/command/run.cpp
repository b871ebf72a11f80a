#include "sim/command/run.h"

#include <cstdio>

#include <fmt/format.h>

#include "sim/command/progress.h"

namespace tessera::command {
namespace {

void add(std::vector<std::string>& sets, std::string_view path, const std::string& value) {
  if (!value.empty()) sets.push_back(fmt::format("{}={}", path, value));
}

config::Config load(const RunRequest& request, const Simulator& simulator) {
  std::vector<std::string> sets = request.sets;
  add(sets, "run.threads", request.threads);
  add(sets, "run.engine", request.engine);
  add(sets, "run.max_cycles", request.max_cycles);
  config::Config config = config::load_config(request.file, sets, simulator.catalogue,
                                              simulator.machines, request.seed);
  if (!request.out.empty()) config.report.out = request.out;
  return config;
}

/// Mistakes that planning finds name the file too.
report::Built build(const config::Config& config, const Simulator& simulator) {
  try {
    return simulator.build(config);
  } catch (const KeyError& error) {
    throw config.located(error);
  }
}

}  // namespace

ExitCode run(const RunRequest& request, const Simulator& simulator) {
  const config::Config config = load(request, simulator);
  const std::string folder = report::output_folder(config);
  report::require_writable(folder);
  Progress progress(request.quiet);
  progress.show("planning and building");
  const report::Built built = build(config, simulator);
  progress.show("running");
  const report::Outcome outcome = simulator.run(config, built);
  progress.clear();
  const report::Report report = report::make_report(config, built, outcome);
  report::write_report(report, folder);
  if (!request.quiet) {
    fmt::print("{}  results   {}\n", report::summary(report.json), folder);
  }
  if (report.passed()) return ExitCode::done;
  fmt::print(stderr, "{}: the result is wrong: error {} where {} is allowed\n", request.file,
             outcome.check.max_error, outcome.check.bound);
  return ExitCode::check_failed;
}

ExitCode check(const RunRequest& request, const Simulator& simulator) {
  const config::Config config = load(request, simulator);
  const report::Built built = build(config, simulator);
  const Bytes capacity(config.machine.tile.sram_kib * 1024ULL);
  fmt::print("{}\n{}", report::static_summary(report::static_report(config, built)),
             program::memory_table(built.images, capacity));
  return ExitCode::done;
}

}  // namespace tessera::command
