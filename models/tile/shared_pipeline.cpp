#include "models/tile/shared_pipeline.h"

#include <algorithm>

#include "sim/base/errors.h"

namespace tessera {

SharedPipeline::SharedPipeline(const TileConfig& tile, std::uint32_t branch_latency,
                               const engine::Code* profiled)
    : revolver_(tile.issue == IssueKind::revolver),
      distance_(std::max(1U, tile.reissue_cycles)),
      branch_latency_(branch_latency),
      profiled_(profiled),
      lanes_(tile.contexts + 1),
      order_(tile.contexts + 1),
      next_unit_(tile.contexts + 1) {
  for (PipelineLane& lane : lanes_) lane.board = engine::Scoreboard(distance_);
}

void SharedPipeline::start(Context context, Cycle at, bool drained, const More& more) {
  PipelineLane& lane = lanes_[context];
  const std::uint64_t slot = std::max(at.count(), lane.board.slot());
  if (drained) lane.board = engine::Scoreboard(distance_);
  lane.board.hold_until(slot);
  lane.accounted = at.count();
  lane.running = true;
  period_.forget();
  look(context, more);
}

Cycle SharedPipeline::finish(Context context, const More& more) {
  while (runs(context)) step(kNever, more);
  return lanes_[context].end;
}

bool SharedPipeline::busy_at(Cycle time, const More& more) {
  const auto workers = static_cast<Context>(lanes_.size() - 1);
  for (;;) {
    Context context = 0;
    while (context < workers && !runs(context)) ++context;
    if (context == workers) return false;
    if (!step(time.count(), more)) return true;
  }
}

/// Processes the next event (a transfer's end before an issue in the same cycle); false if it is
/// not before `limit`.
bool SharedPipeline::step(std::uint64_t limit, const More& more) {
  const Pick next = pick();
  const std::optional<Cycle> end = dma_ != nullptr ? dma_->next() : std::nullopt;
  const std::uint64_t ends = end ? end->count() : kNever;
  check(next.at != kNever || end, "pipeline: nobody can issue");
  if (std::min(next.at, ends) >= limit) return false;
  if (ends <= next.at)
    end_transfers(ends, more);
  else
    merge(next, limit, more);
  return true;
}

/// Lets contexts whose transfers are done at `at` continue.
void SharedPipeline::end_transfers(std::uint64_t at, const More& more) {
  for (const WorkerDma::Ended& ended : dma_->advance(Cycle(at))) {
    if (heard_) heard_(ended);
    PipelineLane& lane = lanes_[ended.worker];
    const std::uint64_t turn = lane.board.slot();
    lane.board.hold_until(at);
    const std::uint64_t waited = lane.board.slot() - turn;
    lane.stalls.cycles[Stalls::external] += waited;
    lane.accounted += waited;
    lane.waits = false;
    lane.running = true;
    period_.forget();
    look(ended.worker, more);
  }
}

/// Issues `pick`, then skips whole periods before `limit`.
void SharedPipeline::merge(const Pick& pick, std::uint64_t limit, const More& more) {
  issue(pick, more);
  if (profiled_ != nullptr) return;  // the profile needs every issue
  // A transfer's end changes the issue order.
  if (const auto end = dma_ != nullptr ? dma_->next() : std::nullopt)
    limit = std::min(limit, end->count());
  if (!period_.skip({lanes_, units_, port_free_, last_}, pick.at, limit)) return;
  for (Context context = 0; context < lanes_.size(); ++context)
    if (lanes_[context].running) order_.put(context, lanes_[context].ready.at);
}

Stalls SharedPipeline::take_stalls(Context context) {
  period_.forget();
  return std::exchange(lanes_[context].stalls, Stalls{});
}

/// The context's next issue if no other context competes.
std::uint64_t SharedPipeline::eligible(Context context) const {
  return std::max(
      {order_.time(context), port_free_, units_[static_cast<std::size_t>(next_unit_[context])]});
}

/// The next issue: context and cycle; kNever if no context runs.
SharedPipeline::Pick SharedPipeline::pick() const {
  if (revolver_) return pick_in_turn();
  Pick best{0, kNever};
  for (Context each = order_.first(); each != order_.end(); each = order_.behind(each)) {
    if (order_.time(each) >= best.at) break;
    const std::uint64_t at = eligible(each);
    if (at < best.at) best = {each, at};
    if (at == port_free_) break;
  }
  return best;
}

SharedPipeline::Pick SharedPipeline::pick_in_turn() const {
  const auto count = static_cast<Context>(lanes_.size());
  const auto turns = [&](Context context) {
    return context > last_ ? context - last_ : context + count - last_;
  };
  const Context next = last_ + 1 == count ? 0 : last_ + 1;
  if (lanes_[next].running && eligible(next) == port_free_) return {next, port_free_};
  Pick best{0, kNever};
  for (Context each = order_.first(); each != order_.end(); each = order_.behind(each)) {
    if (order_.time(each) > best.at) break;
    const std::uint64_t at = eligible(each);
    if (at < best.at || (at == best.at && turns(each) < turns(best.context))) best = {each, at};
  }
  return best;
}

void SharedPipeline::issue(const Pick& pick, const More& more) {
  PipelineLane& lane = lanes_[pick.context];
  const bool waits = lane.step == 0 && pick.at > lane.ready.at;
  const auto ready = waits ? lane.board.ready(lane.group.first(1), units_) : lane.ready;
  if (lane.step == 0) {
    lane.group = lane.board.together(lane.group, pick.at, units_);
    lane.steps = engine::issues_of(lane.group);
  }
  const std::uint64_t slot = lane.board.slot();
  lane.board.issue(lane.group, lane.step, pick.at, units_);
  const std::uint64_t slots = lane.board.end() - pick.at;
  Stalls& stalls = lane.stalls;
  stalls.add_issue(slots, lane.group.size() > 1);
  const std::uint64_t arbitration = slot - lane.accounted + (pick.at - ready.at);
  stalls.cycles[Stalls::arbitration] += arbitration;
  stalls.cycles[Stalls::load + static_cast<std::size_t>(ready.cause)] += ready.waited;
  lane.accounted = lane.board.end();
  if (profiled_ != nullptr && profiles_) profile(pick.context, slots, arbitration, ready);
  if (lane.step == 0) lane.last_issue = Cycle(pick.at);
  port_free_ = std::max(port_free_, pick.at + slots);
  if (slots > 0) last_ = pick.context;
  if (++lane.step < lane.steps) {
    lane.ready = {lane.board.slot(), 0, engine::Cause::branch};
    order_.put(pick.context, lane.ready.at);
    next_unit_[pick.context] = engine::Unit::none;
    return;
  }
  lane.issued += lane.group.size();
  look(pick.context, more);
}

/// Adds the time of a worker's issue to the profile.
void SharedPipeline::profile(Context context, std::uint64_t slots, std::uint64_t arbitration,
                             const engine::Scoreboard::Ready& ready) const {
  const PipelineLane& lane = lanes_[context];
  if (context + 1 == lanes_.size()) return;  // not profiled: the supervisor's code is separate
  const auto pcs = lane.trace.front().edge->pcs().subspan(lane.issued, lane.group.size());
  engine::InstructionProfile first;
  first.times = lane.step == 0 ? 1 : 0;
  first.issued = slots;
  first.arbitration = arbitration;
  first.waits[static_cast<std::size_t>(ready.cause)] = ready.waited;
  profiled_->add_issue(pcs.front(), first);
  if (pcs.size() > 1 && lane.step == 0) profiled_->add_issue(pcs.back(), {.times = 1});
}

void SharedPipeline::leave_stretch(PipelineLane& lane) {
  if (lane.trace.front().edge->branches) lane.board.branch(branch_latency_);
  lane.trace.pop();
  lane.issued = 0;
}

/// Fetches the context's next instructions, or ends it.
void SharedPipeline::look(Context context, const More& more) {
  PipelineLane& lane = lanes_[context];
  const auto rest = [&lane] { return lane.trace.front().edge->demands().subspan(lane.issued); };
  while (lane.trace.empty() || rest().empty()) {
    if (!lane.trace.empty()) {
      leave_stretch(lane);
      continue;
    }
    const Cycle end(lane.board.end());
    const Then then = more(context, lane.last_issue, end);
    if (then == Then::goes_on) continue;
    lane.running = false;
    lane.waits = then == Then::waits;
    order_.remove(context);
    lane.end = end;
    return;
  }
  lane.group = engine::front_group(rest());
  lane.step = 0;
  lane.steps = engine::issues_of(lane.group);
  lane.ready = lane.board.ready(lane.group.first(1));
  order_.put(context, lane.ready.at);
  next_unit_[context] = lane.group.front().unit;
}

}  // namespace tessera
