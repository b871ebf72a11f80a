#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/machine/machine_config.h"
#include "sim/program/image.h"
#include "sim/program/workload.h"
#include "sim/report/profile.h"
#include "sim/report/run_progress.h"
#include "sim/report/run_result.h"
#include "sim/trace/run_trace.h"

namespace tessera {

struct RunOptions {
  unsigned threads = 1;  ///< of the host; results do not depend on it
  /// Fault where workers of one run, or a transfer in flight, overlap; poison what is undefined.
  bool check_races = false;
  bool measure_host = false;                   ///< count the host's transfers of inputs and results
  std::uint64_t max_cycles = 100'000'000'000;  ///< beyond it the run ends with NoProgress
  std::uint64_t seed = 1;                      ///< of the workers' generators (rnd.64)
  std::uint64_t tile_steps = 0;                ///< tiles x rows of RunResult::tile_steps
  trace::RunTrace* trace = nullptr;            ///< null: none; outlives the machine
  bool profile = false;                        ///< of codelets, for Machine::profile (slower)
  RunProgress* progress = nullptr;             ///< null: none; outlives the machine
  std::uint64_t shuffle = 0;  ///< not 0: tiles run in a random order of this seed, for tests
};

/// A machine with its images loaded: chip, tiles, fabric, barriers and host as SystemC modules.
/// One a process (SystemC elaborates once). Destroying it takes long where there are many tiles
/// (SystemC removes modules in quadratic time): a program that is done flushes its files and leaves
/// by std::quick_exit instead.
class Machine {
 public:
  /// Throws UserError for a machine that cannot be built. `images` are not needed afterwards, but
  /// `program`'s buffers are read while it is constructed.
  Machine(const MachineConfig& config, const program::Program& program,
          const program::Images& images, const RunOptions& options);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

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
  class Tree;
  MachineConfig config_;
  RunProgress* progress_;  ///< null: nobody asks
  std::unique_ptr<Tree> tree_;
  Bytes host_bytes_;  ///< of one run, as far as they are measured
  Cycle host_cycles_;
  std::vector<RunRecord> runs_;
  double host_seconds_ = 0;
};

}  // namespace tessera
