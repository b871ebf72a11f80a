#include "sim/trace/span.h"

#include <algorithm>
#include <tuple>

namespace tessera::trace {
namespace {

State state_of(program::Carrier carrier) {
  switch (carrier) {
    case program::Carrier::memory:
      return State::external;
    case program::Carrier::host:
      return State::host;
    case program::Carrier::fabric:
      break;
  }
  return State::exchange;
}

}  // namespace

void add_states(const TileLog& log, Lane lane, const SuperstepRecord& record,
                std::vector<Span>& spans) {
  const Cycle start = record.start;
  const Cycle release = start + record.time.total();
  if (log.arrived < start) return;
  const auto add = [&](State state, Cycle begin, Cycle end) {
    if (begin < end) spans.push_back({begin, end, lane, name_of(state), kNotSaid});
  };
  Cycle at = start;
  for (const Blocked& blocked : log.blocked) {
    add(State::compute, at, blocked.from);
    add(State::wait, blocked.from, blocked.moving);
    add(state_of(blocked.carrier), blocked.moving, blocked.until);
    at = blocked.until;
  }
  if (log.then == TileLog::Then::ended) {
    spans.push_back({at, log.arrived, lane, name_of(State::compute), name_of(State::ended)});
    return;
  }
  if (log.then == TileLog::Then::compute) {
    spans.push_back({at, log.arrived, lane, name_of(State::compute), kNotKnown});
    return;
  }
  add(State::compute, at, log.arrived);
  if (log.then == TileLog::Then::sync) add(State::sync, log.arrived, release);
  if (log.then == TileLog::Then::wait) add(State::wait, log.arrived, release);
}

void join_adjacent(std::vector<Received>& transfers) {
  std::ranges::sort(transfers, [](const Received& a, const Received& b) {
    return std::tie(a.lane, a.from, a.begin) < std::tie(b.lane, b.from, b.begin);
  });
  std::size_t kept = 0;
  for (const Received& each : transfers) {
    Received* const last = kept > 0 ? &transfers[kept - 1] : nullptr;
    if (last != nullptr && last->lane == each.lane && last->from == each.from &&
        each.begin <= last->end) {
      last->end = std::max(last->end, each.end);
      last->bytes += each.bytes;
    } else {
      transfers[kept++] = each;
    }
  }
  transfers.resize(kept);
  std::ranges::sort(transfers, [](const Received& a, const Received& b) {
    return std::tie(a.lane, a.begin, a.from) < std::tie(b.lane, b.begin, b.from);
  });
}

}  // namespace tessera::trace
