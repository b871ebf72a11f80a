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
/// includers see no SystemC. It sets a resolution of 1 fs and makes SystemC's warnings errors. Only
/// one may exist at a time, with no other modules beside it.
class Simulation {
 public:
  /// Throws UserError for a machine that cannot be built, or that expects external memory from the
  /// platform (there is none here). `images` need not outlive the call; `program`'s buffers are
  /// read during it.
  Simulation(const MachineConfig& config, const program::Program& program,
             const program::Images& images, const RunOptions& options);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Runs to the end of every tile's supervisor. Throws UserError for a tile fault, NoProgress with
  /// the state of every stuck tile. Call it once.
  RunResult run();

  /// Writes the inputs of the next run (Buffer::inputs) over the previous ones and runs the same
  /// code again; time continues. Returns the totals of all runs so far.
  RunResult run_again(const program::Program& program, const program::Images& images);

  /// Profile of all workers' codelets so far; needs RunOptions::profile.
  [[nodiscard]] std::vector<report::ProfiledFunction> profile() const;

  /// The tiles' memory, through the host's debug access.
  [[nodiscard]] const MemoryReader& memory() const;

 private:
  std::unique_ptr<MachineModule> machine_;
};

}  // namespace tessera
