#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/base/types.h"
#include "sim/report/run_result.h"
#include "sim/trace/tile_log.h"

namespace tessera::trace {

/// A text of a trace by its number.
using Name = std::uint32_t;

/// State of a tile, or of the last one of all, as the parts of time in report.json; idle: a worker.
/// Each is the Name of its text.
enum class State : Name { compute, wait, exchange, external, sync, host, ended, idle };
constexpr std::string_view kStateNames[] = {"compute", "wait", "exchange", "external",
                                            "sync",    "host", "ended",    "idle"};
constexpr Name name_of(State state) { return static_cast<Name>(state); }

/// Where the spans of one tile or worker stand: each chosen tile has a lane, and after it one for
/// each of its workers if they are wanted.
using Lane = std::uint32_t;

/// A time in which one thing was done.
struct Span {
  Cycle begin, end;
  Lane lane;
  Name name;
  Name then;  ///< state from `end` on, unless another span says it; kNotSaid, kNotKnown
};
constexpr Name kNotSaid = UINT32_MAX, kNotKnown = UINT32_MAX - 1;

/// Bytes that a chosen tile, whose own lane is `lane`, receives from any one.
struct Received {
  Cycle begin, end;
  Lane lane;
  TileId from;
  Bytes bytes;
};

/// Sorts them by lane, then by time. What follows without a gap from the same tile is one.
void join_adjacent(std::vector<Received>& transfers);

/// Adds what the tile did in the superstep `record`, in order. Of one that ended before: nothing. A
/// span that is empty stands for what comes then.
void add_states(const TileLog& log, Lane lane, const SuperstepRecord& record,
                std::vector<Span>& spans);

}  // namespace tessera::trace
