#pragma once

#include <map>
#include <mutex>
#include <string>

#include "sim/machine/machine_config.h"
#include "sim/program/program.h"
#include "sim/report/run_result.h"

namespace tessera {

/// What the tiles of programs do, as far as energy depends on it, found without running a machine:
/// of each kind of tile one runs its vertices alone, exchanges are counted from their copies.
/// Tiles are of a kind if their vertices have the same arguments; of many kinds some are run and
/// speak for their neighbours. Leaves out: code whose way depends on bytes that an exchange brings
/// or that tiles of a kind hold apart; bytes that a schedule sends twice; transfers with the host
/// while the program runs. For several threads.
class ProgramActivity {
 public:
  /// Sets the tiles' records of bytes and their activity in `into`. False where that cannot be
  /// known: a `While` has as many turns as its data want.
  bool estimate(const program::Program& program, const MachineConfig& machine, RunResult& into);

 private:
  std::mutex mutex_;
  /// By vertices and by what of a tile says what instructions do: not by what says when.
  std::map<std::string, isa::ActivityCounts> known_;
};

}  // namespace tessera
