#pragma once

#include <cstdint>

#include "sim/engine/engine.h"
#include "sim/report/run_progress.h"
#include "sim/trace/run_trace.h"

namespace tessera {

struct TimingProof;

/// How a machine runs its program, on any platform. Separate from machine.h so that users of
/// simulation.h see no SystemC.
struct RunOptions {
  unsigned threads = 1;  ///< on the host; results do not depend on it
  /// Faults on overlapping accesses of workers of one run or of a transfer in flight; poisons
  /// undefined bytes.
  bool check_races = false;
  bool measure_host = false;                   ///< count the host's transfers of inputs and results
  std::uint64_t max_cycles = 100'000'000'000;  ///< beyond it the run ends with NoProgress
  std::uint64_t seed = 1;                      ///< seeds the workers' generators (rnd.64)
  std::uint64_t tile_steps = 0;                ///< tiles x rows of RunResult::tile_steps
  trace::RunTrace* trace = nullptr;            ///< null: none; outlives the machine
  engine::Engine engine = engine::Engine::interpreter;
  bool profile = false;             ///< profiles codelets, for MachineModule::profile (slower)
  RunProgress* progress = nullptr;  ///< null: none; outlives the machine
  /// A timing proof of the program: no values are computed. Null: they are. Outlives the machine.
  const TimingProof* proof = nullptr;
  std::uint64_t shuffle = 0;  ///< not 0: tiles run in a random order of this seed, for tests
};

}  // namespace tessera
