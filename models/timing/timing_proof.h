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
  /// By tile. Tiles of a kind make the same calls, with equal times.
  std::vector<std::uint32_t> kind_of;
  std::vector<CallScript> scripts;  ///< by kind
  /// By BufferId: true if its contents affect time (index lists, sizes), so a run has to load them.
  std::vector<bool> looked_up;
  std::uint64_t calls = 0;  ///< walked worker calls; all others equal one of them
  /// Where and why the proof fails: the run then has to compute values.
  std::optional<std::string> refusal;
};

/// Walks the code of one tile of each kind from its entry to its end. `machine`: with the workers
/// that the program starts (program::started_by).
TimingProof prove(const program::Program& program, const program::Images& images,
                  const MachineConfig& machine, HostThreads& threads);

}  // namespace tessera
