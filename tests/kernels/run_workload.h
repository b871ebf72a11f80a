#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <string>

#include "models/costs/measured_costs.h"
#include "models/fabric/fabric.h"
#include "models/simulation.h"
#include "sim/program/catalogue.h"
#include "tests/models/in_child.h"

namespace tessera::test {

/// Builds, runs with race checks and checks what `plan` returns, in a process of its own. Returns
/// "passed" and what `view` says, or what went wrong.
template <class Plan, class View>
std::string run_planned(const MachineConfig& machine, const Plan& plan, const View& view) {
  return in_child([&]() -> std::string {
    MeasuredCosts costs(machine);
    const auto planned = plan(costs);
    const auto& workload = *planned;
    const program::Program program = workload.build();
    const auto exchanges = fabric::make_exchange_compiler(machine.fabric);
    RunOptions run_options;
    run_options.check_races = true;
    Simulation built(machine, program, program::compile(program, machine, *exchanges), run_options);
    const RunResult result = built.run();
    const CheckResult check =
        workload.check(TensorReader(program, built.memory()), {CheckMode::full});
    if (!check.passed) return "wrong: " + check.problem;
    return "passed" + (view ? view(result, workload) : "");
  });
}

template <class Kernel>
using WorkloadView = std::function<std::string(const RunResult&, const Kernel&)>;

/// The same of a kernel's options.
template <class Kernel, class Options>
std::string run_workload(const Options& options, const MachineConfig& machine,
                         const WorkloadView<Kernel>& view = {}) {
  const auto plan = [&](MachineCosts& costs) {
    if constexpr (std::is_constructible_v<Kernel, const Options&, MachineCosts&>)
      return std::make_unique<Kernel>(options, costs);
    else
      return std::make_unique<Kernel>(options, machine);
  };
  return run_planned(machine, plan, view);
}

/// The same; the simulated cycles have to be the predicted ones but for less than a share of `off`.
template <class Kernel, class Options>
std::string run_as_predicted(const Options& options, const MachineConfig& machine, double off) {
  return run_workload<Kernel>(
      options, machine, {[off](const RunResult& result, const Kernel& workload) {
        const auto found = static_cast<double>(result.time.total().count());
        const auto predicted = static_cast<double>(workload.prediction().cycles);
        return std::abs(predicted / found - 1) < off
                   ? std::string()
                   : fmt::format(": predicted {}, simulated {}", predicted, found);
      }});
}

/// What run_workload does, of a kernel of the catalogue.
inline std::string run_options(const KernelOptions& options, const MachineConfig& machine,
                               const WorkloadView<Workload>& view = {}) {
  return run_planned(
      machine, [&](MachineCosts& costs) { return options.plan(costs); }, view);
}

/// A workload that has run, in this process; for what must be read of it afterwards.
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

}  // namespace tessera::test
