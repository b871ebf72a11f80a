#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>

#include "models/costs/measured_costs.h"
#include "models/fabric/fabric.h"
#include "models/simulation.h"
#include "sim/config/writers.h"
#include "sim/program/catalogue.h"
#include "sim/program/image.h"
#include "sim/program/workload.h"
#include "tests/models/in_child.h"

namespace tessera::test {

/// Plans a workload with costs measured on that machine.
template <class Kernel, class Options>
Kernel planned(const Options& options, const MachineConfig& machine) {
  MeasuredCosts costs(machine);
  return Kernel(options, costs);
}

/// Bytes on the fullest tile; throws UserError if the program does not fit.
inline std::uint64_t compiled_bytes(const Workload& workload, const MachineConfig& machine) {
  const auto exchanges = fabric::make_exchange_compiler(machine.fabric);
  return program::summarise_memory(program::compile(workload.build(), machine, *exchanges))
      .max_bytes;
}

/// Builds the workload that `plan` returns and executes all of its runs in a separate process, with
/// race checks and full result checks. Returns "passed" and the view of the last run, or an error.
template <class Plan, class View>
std::string run_planned(const MachineConfig& machine, const Plan& plan, const View& view) {
  return in_child([&]() -> std::string {
    MeasuredCosts costs(machine);
    const auto planned = plan(costs);
    const auto& workload = *planned;
    const program::Program program = workload.build();
    const auto exchanges = fabric::make_exchange_compiler(machine.fabric);
    const program::Images images = program::compile(program, machine, *exchanges);
    constexpr std::uint64_t kAlways = 100'000'000;
    RunOptions run_options{.check_races = true,
                           .max_cycles = std::max(kAlways, 4 * workload.prediction().cycles)};
    Simulation built(machine, program, images, run_options);
    RunResult result;
    for (std::uint32_t run = 0; run < workload.runs(); ++run) {
      result = run == 0 ? built.run() : built.run_again(program, images);
      const CheckResult check =
          workload.check_run(TensorReader(program, built.memory()), {CheckMode::full}, run);
      if (!check.passed) return fmt::format("run {} is wrong: {}", run, check.problem);
    }
    return "passed" + (view ? view(result, workload) : "");
  });
}

/// Returns `told`; unless the run passed, appends the config that failed.
template <class Options>
std::string with_config(std::string told, bool passes, const Options& options,
                        const MachineConfig& machine) {
  if (!passes)
    told += fmt::format(" with {}", config::Json{{"machine", config::resolved(machine)},
                                                 {"workload", config::resolved(options)}}
                                        .dump());
  return told;
}

/// Runs the workload that `plan` makes of `options`. An error is returned with the whole config.
template <class Options, class Plan, class View>
std::string run_planned(const Options& options, const MachineConfig& machine, const Plan& plan,
                        const View& view) {
  std::string told = run_planned(machine, plan, view);
  const bool passes = told.starts_with("passed");
  return with_config(std::move(told), passes, options, machine);
}

template <class Kernel>
using WorkloadView = std::function<std::string(const RunResult&, const Kernel&)>;

/// Plans and runs a kernel with these options.
template <class Kernel, class Options>
std::string run_workload(const Options& options, const MachineConfig& machine,
                         const WorkloadView<Kernel>& view = {}) {
  const auto plan = [&](MachineCosts& costs) {
    if constexpr (std::is_constructible_v<Kernel, const Options&, MachineCosts&>)
      return std::make_unique<Kernel>(options, costs);
    else
      return std::make_unique<Kernel>(options, machine);
  };
  return run_planned(options, machine, plan, view);
}

/// The part of the cycles that is compared with the prediction.
enum class PredictedCycles { total, compute, exchange, compute_and_exchange };

/// A view that returns "" if the simulated cycles are within a share of `off` of the prediction,
/// otherwise both numbers.
inline auto as_predicted(double off, PredictedCycles what = PredictedCycles::total) {
  return [off, what](const RunResult& result, const Workload& workload) {
    const Prediction predicted = workload.prediction();
    const auto compared = [&](const char* name, std::uint64_t expected, Cycle simulated) {
      const auto found = static_cast<double>(simulated.count());
      return std::abs(static_cast<double>(expected) / found - 1) < off
                 ? std::string()
                 : fmt::format(": {}: predicted {}, simulated {}", name, expected, found);
    };
    if (what == PredictedCycles::total)
      return compared("total", predicted.cycles, result.time.total());
    const auto compute = [&] {
      return compared("compute", predicted.compute_cycles, result.time.compute);
    };
    const auto exchange = [&] {
      return compared("exchange", predicted.exchange_cycles, result.time.exchange);
    };
    if (what == PredictedCycles::compute) return compute();
    return what == PredictedCycles::exchange ? exchange() : compute() + exchange();
  };
}

/// As run_workload(); also fails if the cycles miss the prediction.
template <class Kernel, class Options>
std::string run_as_predicted(const Options& options, const MachineConfig& machine, double off,
                             PredictedCycles what = PredictedCycles::total) {
  std::string told = run_workload<Kernel>(options, machine, {as_predicted(off, what)});
  const bool predicted = !told.starts_with("passed:");
  return with_config(std::move(told), predicted, options, machine);
}

/// As run_workload, for a kernel of the catalogue.
inline std::string run_options(const KernelOptions& options, const MachineConfig& machine,
                               const WorkloadView<Workload>& view = {}) {
  return run_planned(
      machine, [&](MachineCosts& costs) { return options.plan(costs); }, view);
}

/// A workload that has run in this process, for tests that read its state afterwards.
template <class Kernel>
struct Finished {
  MeasuredCosts costs;
  const Kernel workload;
  const program::Program program;
  Simulation machine;
  const RunResult result;
  const TensorReader tensors;

  template <class Options>
  Finished(const Options& options, const MachineConfig& config, const RunOptions& run = {})
      : costs(config),
        workload(options, costs),
        program(workload.build()),
        machine(config, program,
                program::compile(program, config, *fabric::make_exchange_compiler(config.fabric)),
                run),
        result(machine.run()),
        tensors(program, machine.memory()) {}
};

/// Runs a workload in its own process and returns tell(finished run), or the check's problem if the
/// check fails.
template <class Kernel, class Options, class Tell>
std::string told(const Options& options, const MachineConfig& config, const Tell& tell,
                 const RunOptions& run_options = {}) {
  return in_child([&]() -> std::string {
    const Finished<Kernel> run(options, config, run_options);
    const CheckResult check = run.workload.check(run.tensors, {CheckMode::full});
    return check.passed ? tell(run) : check.problem;
  });
}

}  // namespace tessera::test
