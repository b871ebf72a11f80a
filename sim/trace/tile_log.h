#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/base/types.h"

/// What tiles did in one superstep, as the machine tells it to a trace.
namespace tessera::trace {

/// A wait for an exchange: for its other ends until `moving`, for its bytes from then on.
struct Blocked {
  Cycle from, moving, until;
};

/// A worker from its start to its end.
struct WorkerSpan {
  Cycle begin, end;
  std::uint32_t worker = 0;
  std::uint32_t pc = 0;  ///< where it began
};

/// One tile in the superstep that is open. Written by the host thread that runs the tile.
struct TileLog {
  Cycle arrived;               ///< at the barrier, or when it ended
  bool ended = false;          ///< its supervisor has ended
  bool wants_workers = false;  ///< whether `workers` is to be kept
  std::vector<Blocked> blocked;
  std::vector<WorkerSpan> workers;

  void clear() {
    blocked.clear();
    workers.clear();
  }
};

/// No more stretches than this are in a log.
inline std::uint64_t most_stretches(const TileLog& log) {
  return 2 + 3 * log.blocked.size() + log.workers.size();
}

/// What a tile, or the last one of all, is doing; as the parts of time in report.json.
enum class State : std::uint8_t { compute, wait, exchange, sync, ended };
constexpr std::string_view kStateNames[] = {"compute", "wait", "exchange", "sync", "ended"};

/// Calls `visit(state, begin, end)` for each stretch of the superstep [start, release) in which the
/// tile did one thing, in order. Of a tile that ended before: none.
template <class Visit>
void visit_states(const TileLog& log, Cycle start, Cycle release, Visit visit) {
  if (log.arrived < start) return;
  const auto stretch = [&](State state, Cycle begin, Cycle end) {
    if (begin < end) visit(state, begin, end);
  };
  Cycle at = start;
  for (const Blocked& blocked : log.blocked) {
    stretch(State::compute, at, blocked.from);
    stretch(State::wait, blocked.from, blocked.moving);
    stretch(State::exchange, blocked.moving, blocked.until);
    at = blocked.until;
  }
  stretch(State::compute, at, log.arrived);
  if (!log.ended) stretch(State::sync, log.arrived, release);
}

}  // namespace tessera::trace
