#include "sim/build.h"

#include <algorithm>
#include <memory>
#include <thread>

#include "models/costs/measured_costs.h"
#include "sim/base/stopwatch.h"

namespace tessera {
namespace {

template <class Compile>
report::Built built(const config::Config& config, RememberedPrograms& programs,
                    const Compile& compile) {
  const Stopwatch watch;
  programs.keep_small();
  programs.use_threads(options_of(config).threads);
  MeasuredCosts costs(config.machine, &programs);
  std::unique_ptr<Workload> workload = config.workload->plan(costs);
  program::Program program = workload->build();
  program::Images images = compile(program);
  return {std::move(workload), std::move(program), std::move(images), watch.seconds()};
}
}  // namespace

report::Built build(const config::Config& config, RememberedPrograms& programs) {
  return built(config, programs, [&](const program::Program& program) {
    return program::compile(program, config.machine, *programs.compiler(config.machine));
  });
}

report::Built build(const config::Config& config) {
  RememberedPrograms programs;
  return build(config, programs);
}

report::Built outline(const config::Config& config) {
  RememberedPrograms programs;
  return built(config, programs, [&](const program::Program& program) {
    return programs.outline(program, config.machine);
  });
}

RunOptions options_of(const config::Config& config) {
  RunOptions options;
  options.threads = config.run.threads > 0 ? config.run.threads
                                           : std::max(1U, std::thread::hardware_concurrency());
  options.check_races = config.run.check_races;
  options.engine = config.run.engine;
  options.measure_host = config.run.measure == Measure::host;
  options.max_cycles = config.run.max_cycles;
  options.seed = config.run.seed;
  options.tile_steps = config.report.tile_steps;
  return options;
}

}  // namespace tessera
