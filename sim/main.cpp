#include <cstdio>
#include <cstdlib>
#include <memory>

#include "kernels/catalogue.h"
#include "models/costs/forecaster.h"
#include "models/costs/measured_costs.h"
#include "models/simulation.h"
#include "sim/base/allocator.h"
#include "sim/base/stopwatch.h"
#include "sim/base/unfinished.h"
#include "sim/build.h"
#include "sim/command/command_line.h"
#include "sim/program/kernel_run.h"
#include "sim/remembered_proof.h"

namespace tessera {

/// config -> plan -> program: throws UserError if it does not fit, as far as `how` tests
void require_fit(const config::Config& config, command::FitTest how, RememberedPrograms& programs) {
  MeasuredCosts costs(config.machine, &programs);
  if (how == command::FitTest::plan) costs.leave_out_schedules();
  const std::unique_ptr<Workload> workload = config.workload->plan(costs);
  if (how == command::FitTest::plan) return;
  const program::Program program = workload->build();
  programs.require_fit(program, program::fingerprint(program), config.machine);
}

/// images -> whether a run may skip values
TimingProof prove(const config::Config& config, const report::Built& built, unsigned threads) {
  HostThreads helpers(threads);
  return prove(built.program, built.images, program::started_by(built.program, config.machine),
               helpers);
}

/// images -> machine -> run -> the report's data
report::Outcome run(const config::Config& config, const report::Built& built,
                    const command::Observers& observers, RememberedProof& proofs) {
  RunOptions options = options_of(config);
  report::Outcome outcome;
  std::shared_ptr<const TimingProof> proof;
  if (!config.run.values) {
    proof = proofs.proof(config, built, [&] { return prove(config, built, options.threads); });
    outcome.timing = {proof->refusal.has_value(), proof->refusal.value_or(""),
                      static_cast<std::uint32_t>(proof->scripts.size()), proof->calls};
    if (!proof->refusal) options.proof = proof.get();
  }
  options.trace = observers.trace;
  options.progress = observers.progress;
  Simulation machine(config.machine, built.program, built.images, options);
  const TensorReader tensors(built.program, machine.memory());
  outcome.threads = options.threads;
  const bool values = options.proof == nullptr;
  if (!values) outcome.check.method = report::kNotComputed;
  for (std::uint32_t i = 0; i < built.workload->runs(); ++i) {
    outcome.result = program::run_of_kernel(
        [&] { return i == 0 ? machine.run() : machine.run_again(built.program, built.images); });
    const Stopwatch watch;
    if (observers.progress) observers.progress->phase = RunProgress::Phase::checking;
    if (values && config.run.check != CheckMode::off)
      outcome.add(built.workload->check_run(
          tensors, {config.run.check, config.run.seed, options.threads}, i));
    outcome.check_seconds += watch.seconds();
    if (observers.tensors.empty()) continue;
    HostThreads threads(options.threads);
    for (const std::string& name : observers.tensors)
      if (tensors.tensor(name).run == i)
        outcome.tensors.push_back(report::read_tensor(tensors, name, threads));
  }
  if (values) outcome.results = built.workload->results(tensors);
  return outcome;
}

/// images -> machine -> run -> cycles of its codelets
std::vector<report::ProfiledFunction> profile(const config::Config& config,
                                              const report::Built& built) {
  RunOptions options = options_of(config);
  options.profile = true;
  Simulation machine(config.machine, built.program, built.images, options);
  for (std::uint32_t i = 0; i < built.workload->runs(); ++i)
    program::run_of_kernel(
        [&] { return i == 0 ? machine.run() : machine.run_again(built.program, built.images); });
  return machine.profile();
}

/// config -> plan -> predicted time; also for configs like it
command::Forecast forecast(const config::Config& first) {
  const auto forecaster = std::make_shared<Forecaster>(first);
  return [forecaster](const config::Config& config) { return (*forecaster)(config); };
}

/// A check that configs fit; plans each one anew.
command::FitCheck fit_check() {
  const auto programs = std::make_shared<RememberedPrograms>();
  return [programs](const config::Config& config, command::FitTest how) {
    require_fit(config, how, *programs);
  };
}

}  // namespace tessera

/// SystemC's library requires it; main() is below.
extern "C" int sc_main(int /*argc*/, char* /*argv*/[]) { return 0; }

int main(int argc, char** argv) {
  using namespace tessera;
  keep_freed_memory();
  clean_up_on_signals("interrupted: nothing half-written remains\n");
  RememberedPrograms programs;
  RememberedProof proofs;
  const command::Simulator simulator{
      kernels::catalogue(),
      config::machine_presets(),
      config::validation_presets(),
      config::paper_presets(),
      [&](const config::Config& config) { return build(config, programs); },
      [&](const config::Config& config, const report::Built& built,
          const command::Observers& observers) { return run(config, built, observers, proofs); },
      forecast,
      profile,
      fit_check,
      outline};
  const ExitCode code = command::run_command_line(argc, argv, simulator);
  std::fflush(nullptr);
  std::quick_exit(static_cast<int>(code));
}
