#include "models/machine.h"

#include <systemc>

#include "models/chip/chip.h"
#include "models/energy/energy.h"
#include "models/host/host.h"
#include "sim/base/errors.h"
#include "sim/base/stopwatch.h"

namespace tessera {
namespace {

/// SystemC's warnings are errors here, and its remarks belong in nobody's output.
void be_strict() {
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_THROW);
}

TileSettings tile_settings(const MachineConfig& config, const RunOptions& options) {
  TileSettings settings;
  settings.tile = config.tile;
  settings.max_cycles = Cycle(options.max_cycles);
  settings.seed = options.seed;
  settings.check_races = options.check_races;
  settings.count_activity = true;
  settings.profile = options.profile;
  return settings;
}

/// An error that SystemC finds is a defect of ours.
template <class Work>
void without_systemc_errors(Work work) {
  try {
    work();
  } catch (const sc_core::sc_report& report) {
    throw Defect(report.what());
  }
}

}  // namespace

/// The top of the module tree.
class Machine::Tree : public sc_core::sc_module {
 public:
  Tree(const MachineConfig& config, const program::Program& program, const program::Images& images,
       const RunOptions& options)
      : sc_module(sc_core::sc_module_name("machine")),
        threads(options.threads),
        settings(tile_settings(program::started_by(program, config), options)),
        chip("chip",
             {config, options.measure_host, options.shuffle, options.tile_steps, options.trace,
              options.progress},
             images, settings, threads),
        host("host", config) {
    host.socket.bind(chip.socket);
    chip.host.bind(host);
  }
  HostThreads threads;
  TileSettings settings;
  Chip chip;
  Host host;
};

Machine::Machine(const MachineConfig& config, const program::Program& program,
                 const program::Images& images, const RunOptions& options)
    : config_(config), progress_(options.progress) {
  if (progress_ != nullptr) progress_->phase = RunProgress::Phase::loading;
  be_strict();
  without_systemc_errors([&] {
    tree_ = std::make_unique<Tree>(config, program, images, options);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);  // elaborates: sockets are bound from here on
  });
  tree_->host.load(program, images, tree_->threads, options.check_races);
  if (options.measure_host) {
    const program::HostBytes bytes = program::host_bytes(program);
    const std::uint32_t transfers =
        (bytes.written > Bytes(0) ? 1 : 0) + (bytes.read > Bytes(0) ? 1 : 0);
    host_bytes_ = bytes.total();
    host_cycles_ = host_transfer_cycles(config, host_bytes_, transfers);
  }
}

Machine::~Machine() = default;

RunResult Machine::run() {
  const Stopwatch watch;
  if (progress_ != nullptr) progress_->phase = RunProgress::Phase::running;
  tree_->chip.start();
  without_systemc_errors([] { sc_core::sc_start(); });
  tree_->chip.check_finished();
  RunResult result = tree_->chip.result();
  const Bytes measured = result.host_bytes;
  result.host_bytes = tree_->host.transferred();
  result.time.host += host_cycles_ * (runs_.size() + 1);
  RunRecord run{result.time.total(), result.supersteps};
  for (const RunRecord& before : runs_) {
    run.cycles = run.cycles - before.cycles;
    run.supersteps -= before.supersteps;
  }
  runs_.push_back(run);
  result.runs = runs_;
  if (config_.has_energy) {
    result.energy = energy::account(config_, result, host_bytes_ * runs_.size() + measured);
  }
  host_seconds_ += watch.seconds();
  result.host_seconds = host_seconds_;
  return result;
}

RunResult Machine::run_again(const program::Program& program, const program::Images& images) {
  const auto number = static_cast<std::uint32_t>(runs_.size());
  tree_->host.write_inputs(program, images, number, tree_->threads);
  return run();
}

std::vector<report::ProfiledFunction> Machine::profile() const { return tree_->chip.profile(); }

const MemoryReader& Machine::memory() const { return tree_->host; }

}  // namespace tessera
