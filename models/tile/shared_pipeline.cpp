#include "models/tile/shared_pipeline.h"

#include <algorithm>

#include "sim/base/errors.h"

namespace tessera {

using engine::Demand;

SharedPipeline::SharedPipeline(const TileConfig& tile, std::uint32_t branch_latency)
    : revolver_(tile.issue == "revolver"),
      distance_(std::max(1U, tile.reissue_cycles)),
      branch_latency_(branch_latency),
      lanes_(tile.contexts + 1) {
  for (Lane& lane : lanes_) lane.board = engine::Scoreboard(distance_);
}

void SharedPipeline::start(Context context, Cycle at, bool drained, const More& more) {
  Lane& lane = lanes_[context];
  const std::uint64_t slot = std::max(at.count(), lane.board.slot());
  if (drained) lane.board = engine::Scoreboard(distance_);
  lane.board.hold_until(slot);
  lane.accounted = at.count();
  lane.running = true;
  look(context, more);
}

Cycle SharedPipeline::finish(Context context, const More& more) {
  while (lanes_[context].running) issue(pick(), more);
  return lanes_[context].end;
}

bool SharedPipeline::busy_at(Cycle time, const More& more) {
  for (;;) {
    const auto workers = std::span(lanes_).first(lanes_.size() - 1);
    const auto runs = [](const Lane& lane) { return lane.running; };
    if (std::none_of(workers.begin(), workers.end(), runs)) return false;
    const Pick next = pick();
    if (next.at >= time.count()) return true;
    issue(next, more);
  }
}

Stalls SharedPipeline::take_stalls(Context context) {
  return std::exchange(lanes_[context].stalls, Stalls{});
}

/// Who issues next, and when. Somebody must be running.
SharedPipeline::Pick SharedPipeline::pick() const {
  std::uint64_t at = ~std::uint64_t{0};
  const auto eligible = [&](const Lane& lane) {
    const std::uint64_t ready = lane.unit ? lane.board.ready(lane.group, units_).at : lane.ready.at;
    return std::max(ready, port_free_);
  };
  for (const Lane& lane : lanes_)
    if (lane.running) at = std::min(at, eligible(lane));
  const auto count = static_cast<Context>(lanes_.size());
  Context best = count;
  for (Context context = 0; context < count; ++context) {
    const Lane& lane = lanes_[context];
    if (!lane.running || eligible(lane) > at) continue;
    if (best == count || before(context, best)) best = context;
  }
  check(best != count, "pipeline: nobody can issue");
  return {best, at};
}

/// Whether `a` goes before `b` where both can issue and a > b.
bool SharedPipeline::before(Context a, Context b) const {
  if (!revolver_) return lanes_[a].ready.at < lanes_[b].ready.at;
  return a > last_ && b <= last_;
}

void SharedPipeline::issue(const Pick& pick, const More& more) {
  Lane& lane = lanes_[pick.context];
  const auto ready = lane.board.ready(lane.group, units_);
  const std::uint64_t slot = lane.board.slot();
  lane.board.issue(lane.group, pick.at, units_);
  const std::uint64_t slots = lane.board.end() - pick.at;
  Stalls& stalls = lane.stalls;
  stalls.add_issue(slots, lane.group.size() > 1);
  stalls.cycles[Stalls::arbitration] += slot - lane.accounted + (pick.at - ready.at);
  stalls.cycles[Stalls::load + static_cast<std::size_t>(ready.cause)] += ready.waited;
  lane.accounted = lane.board.end();
  lane.last_issue = Cycle(pick.at);
  port_free_ = std::max(port_free_, pick.at + slots);
  if (slots > 0) last_ = pick.context;
  lane.issued += lane.group.size();
  look(pick.context, more);
}

void SharedPipeline::leave_stretch(Lane& lane) {
  if (lane.trace.front().edge->branches) lane.board.branch(branch_latency_);
  lane.trace.pop();
  lane.issued = 0;
}

/// What the context issues next, or its end.
void SharedPipeline::look(Context context, const More& more) {
  Lane& lane = lanes_[context];
  const auto rest = [&lane] { return lane.trace.front().edge->demands().subspan(lane.issued); };
  while (lane.trace.empty() || rest().empty()) {
    if (!lane.trace.empty()) {
      leave_stretch(lane);
    } else if (!more(context, lane.last_issue)) {
      lane.running = false;
      lane.end = Cycle(lane.board.end());
      return;
    }
  }
  lane.group = engine::front_group(rest());
  lane.ready = lane.board.ready(lane.group);
  lane.unit = std::any_of(lane.group.begin(), lane.group.end(),
                          [](const Demand& demand) { return demand.interval > 1; });
}

}  // namespace tessera
