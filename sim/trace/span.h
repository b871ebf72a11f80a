#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/base/types.h"
#include "sim/report/run_result.h"
#include "sim/trace/tile_log.h"

namespace tessera::trace {

/// The number of a text in a trace.
using Name = std::uint32_t;

/// State of a tile, or of the last-arriving one, as in the parts of time in report.json; idle: of a
/// worker. Each value is the Name of its text.
enum class State : Name { compute, wait, exchange, external, sync, host, ended, idle };
constexpr std::string_view kStateNames[] = {"compute", "wait", "exchange", "external",
                                            "sync",    "host", "ended",    "idle"};
constexpr Name name_of(State state) { return static_cast<Name>(state); }

/// Identifies the row of a tile or worker: each chosen tile has a lane, followed by those of its
/// workers if they are shown.
using Lane = std::uint32_t;

/// An interval with one activity.
struct Span {
  Cycle begin, end;
  Lane lane;
  Name name;
  Name then;  ///< state after `end`, until another span; or kNotSaid, kNotKnown
};
constexpr Name kNotSaid = UINT32_MAX, kNotKnown = UINT32_MAX - 1;

/// Bytes that a chosen tile, on lane `lane`, receives.
struct Received {
  Cycle begin, end;
  Lane lane;
  TileId from;
  Bytes bytes;
};

/// Sorts by lane, then by time; merges transfers of one sender that follow without a gap.
void join_adjacent(std::vector<Received>& transfers);

/// Adds the tile's states in the superstep `record`, in order; nothing for a tile that ended
/// before. An empty span only sets the state that follows.
void add_states(const TileLog& log, Lane lane, const SuperstepRecord& record,
                std::vector<Span>& spans);

}  // namespace tessera::trace
