#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/types.h"
#include "sim/program/transfer_list.h"

/// Records of tiles in one superstep, from the machine to a trace.
namespace tessera::trace {

/// A wait for an exchange, or for a transfer with memory outside or the host: for its other ends
/// until `moving`, for its bytes from then on.
struct Blocked {
  Cycle from, moving, until;
  program::Carrier carrier = program::Carrier::fabric;
};

/// A worker from its start to its end.
struct WorkerSpan {
  Cycle begin, end;
  std::uint32_t worker = 0;
  std::uint32_t pc = 0;  ///< where it began
};

/// A transfer with memory outside that a worker waits for from its start on; its first bytes are
/// asked for at `begin`.
struct WorkerTransfer {
  Cycle start, begin, done;
  std::uint32_t worker = 0;
  Bytes bytes = {};
};

/// Data that one tile receives from another, or (from itself) moves from and to memory outside or
/// the host, from the first byte's start to the last one's arrival.
struct Transfer {
  TileId from, to;
  Cycle begin, end;
  Bytes bytes;
};

/// One tile in the superstep that is open. Written by the host thread that runs the tile.
struct TileLog {
  /// State from `arrived` on: waits at the barrier or for an exchange; goes on, past the run's
  /// limit; nothing more.
  enum class Then : std::uint8_t { sync, wait, compute, ended };

  Cycle arrived;  ///< how far it is known
  Then then = Then::sync;
  bool wants_workers = false;  ///< `workers` must be kept
  std::vector<Blocked> blocked;
  std::vector<WorkerSpan> workers;
  std::vector<WorkerTransfer> outside;  ///< each worker's in order

  void clear() {
    blocked.clear();
    workers.clear();
    outside.clear();
  }
};

}  // namespace tessera::trace
