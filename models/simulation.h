#pragma once

#include <memory>
#include <vector>

#include "models/run_options.h"
#include "sim/machine/machine_config.h"
#include "sim/program/image.h"
#include "sim/program/workload.h"
#include "sim/report/profile.h"
#include "sim/report/run_result.h"

namespace tessera {

class MachineModule;

/// A SystemC platform of one machine with its images loaded, for our own commands and tests;
/// includers see no SystemC. It decides what a platform decides: the resolution is 1 fs, and
/// SystemC's warnings are errors. One at a time, and no other modules beside it.
class Simulation {
 public:
  /// Throws UserError for a machine that cannot be built, or whose memory is the platform's: here
  /// is none. `images` are not needed afterwards, but `program`'s buffers are read while it is
  /// constructed.
  Simulation(const MachineConfig& config, const program::Program& program,
             const program::Images& images, const RunOptions& options);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Runs to the end of every tile's supervisor. Throws UserError for a tile fault, NoProgress with
  /// the state of every stuck tile. To be called once.
  RunResult run();

  /// Writes the inputs of the next run (Buffer::inputs) where what was loaded has them, and runs
  /// the same code again; time goes on. Returns the totals of all runs so far.
  RunResult run_again(const program::Program& program, const program::Images& images);

  /// Where the cycles of all workers' codelets went so far; needs RunOptions::profile.
  [[nodiscard]] std::vector<report::ProfiledFunction> profile() const;

  /// The tiles' memory, through the host's debug access.
  [[nodiscard]] const MemoryReader& memory() const;

 private:
  std::unique_ptr<MachineModule> machine_;
};

}  // namespace tessera
