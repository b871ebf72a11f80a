#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/types.h"
#include "sim/program/transfer_list.h"

/// Records of tiles in one superstep, passed from the machine to a trace.
namespace tessera::trace {

/// A wait for an exchange, or for a transfer with external memory or the host: for its other ends
/// until `moving`, then for its bytes.
struct Blocked {
  Cycle from, moving, until;
  program::Carrier carrier = program::Carrier::fabric;
};

/// A worker's run.
struct WorkerSpan {
  Cycle begin, end;
  std::uint32_t worker = 0;
  std::uint32_t pc = 0;  ///< entry point
};

/// A worker's transfer with external memory; the worker waits from `start`, the first bytes are
/// requested at `begin`.
struct WorkerTransfer {
  Cycle start, begin, done;
  std::uint32_t worker = 0;
  Bytes bytes = {};
};

/// Data that a tile receives from another, or (from itself) moves between itself and external
/// memory or the host, from the first byte's start to the last one's arrival.
struct Transfer {
  TileId from, to;
  Cycle begin, end;
  Bytes bytes;
};

/// One tile in the open superstep. Written by the host thread that runs the tile.
struct TileLog {
  /// State from `arrived` on: waits at the barrier or for an exchange; continues past the run's
  /// limit; has ended.
  enum class Then : std::uint8_t { sync, wait, compute, ended };

  Cycle arrived;  ///< end of the known states
  Then then = Then::sync;
  bool wants_workers = false;  ///< fill `workers`
  std::vector<Blocked> blocked;
  std::vector<WorkerSpan> workers;
  std::vector<WorkerTransfer> outside;  ///< in order for each worker

  void clear() {
    blocked.clear();
    workers.clear();
    outside.clear();
  }
};

}  // namespace tessera::trace
