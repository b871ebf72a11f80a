#include "models/simulation.h"

#include <utility>

#include <systemc>

#include "models/machine.h"
#include "sim/base/errors.h"

namespace tessera {
namespace {

/// Makes SystemC's warnings errors and silences its info messages.
void be_strict() {
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_THROW);
}

/// Turns SystemC's errors into Defects.
template <class Work>
void without_systemc_errors(Work work) {
  try {
    work();
  } catch (const sc_core::sc_report& report) {
    throw Defect(report.what());
  }
}

}  // namespace

Simulation::Simulation(const MachineConfig& config, const program::Program& program,
                       const program::Images& images, const RunOptions& options) {
  if (config.has_external && !config.external.has_channels())
    throw KeyError("machine.external.model",
                   "found platform, allowed dram: only a SystemC platform around the machine "
                   "(tessera/machine.h) can bind a memory to it");
  be_strict();
  without_systemc_errors([&] {
    machine_ = std::make_unique<MachineModule>("machine", config, program, images, options);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);  // elaborates: sockets are bound from here on
  });
  machine_->load(program, images, 0);
}

/// SystemC elaborates once per context: deletes it so that the next simulation gets a new one.
Simulation::~Simulation() {
  machine_.reset();
  delete std::exchange(sc_core::sc_curr_simcontext, nullptr);
  sc_core::sc_default_global_context = nullptr;
}

RunResult Simulation::run() {
  check(machine_->start(), "simulation: the machine does not start");
  without_systemc_errors([] { sc_core::sc_start(); });
  if (const std::exception_ptr failure = machine_->failure()) std::rethrow_exception(failure);
  return machine_->result();
}

RunResult Simulation::run_again(const program::Program& program, const program::Images& images) {
  machine_->load(program, images, static_cast<std::uint32_t>(machine_->result().runs.size()));
  return run();
}

std::vector<report::ProfiledFunction> Simulation::profile() const { return machine_->profile(); }

const MemoryReader& Simulation::memory() const { return machine_->memory(); }

}  // namespace tessera
