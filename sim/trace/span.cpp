#include "sim/trace/span.h"

namespace tessera::trace {

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
    add(State::exchange, blocked.moving, blocked.until);
    at = blocked.until;
  }
  if (log.then == TileLog::Then::ended) {
    spans.push_back({at, log.arrived, lane, name_of(State::compute), name_of(State::ended)});
    return;
  }
  add(State::compute, at, log.arrived);
  if (log.then == TileLog::Then::sync) {
    const bool waited = record.time.host > Cycle(0);
    const Cycle over = waited ? release - record.time.sync : release;  // the host is done
    add(State::sync, log.arrived, over - record.time.host);
    add(State::host, over - record.time.host, over);
    add(State::sync, over, release);
  }
  if (log.then == TileLog::Then::wait) add(State::wait, log.arrived, release);
}

}  // namespace tessera::trace
