#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/tile/call_script.h"
#include "sim/base/parallel.h"
#include "sim/machine/machine_config.h"
#include "sim/program/image.h"

namespace tessera {

/// The proof that a program takes the same time with any values: no branch, count or stored address
/// on any tile depends on bytes that a vertex writes or a transfer brings, or on a buffer that is
/// not looked up. Contract: a proof for the first tile of a kind holds for all of the kind, since
/// they have the same code, arguments and looked-up contents at the same addresses. Leaves out:
/// exchange times, which no value decides (their lists do, and they are each tile's own).
struct TimingProof {
  /// By tile: tiles of a kind make the same calls, each of which takes the same on all of them.
  std::vector<std::uint32_t> kind_of;
  std::vector<CallScript> scripts;  ///< by kind
  /// By BufferId: its contents decide (lists of indices, sizes), so a run has to load them.
  std::vector<bool> looked_up;
  std::uint64_t calls = 0;  ///< workers' calls that were followed; all others are like one of them
  /// Where the proof fails, and by what: the run has to compute values then.
  std::optional<std::string> refusal;
};

/// Follows the code of a tile of each kind from its entry to its end. `machine` as the program
/// starts its workers (program::started_by).
TimingProof prove(const program::Program& program, const program::Images& images,
                  const MachineConfig& machine, HostThreads& threads);

}  // namespace tessera
