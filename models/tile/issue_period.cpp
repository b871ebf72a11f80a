#include "models/tile/issue_period.h"

namespace tessera {

IssuePeriod::Place IssuePeriod::place(const PipelineLane& lane) {
  return {lane.trace.number(), lane.issued, lane.eventful_step()};
}

/// Whether looking for a period may pay.
bool IssuePeriod::may_repeat(const PipelineLane& lane) {
  return lane.trace.front().times > 2 || lane.steps > 2;
}

bool IssuePeriod::skip(const Port& port, std::uint64_t now, std::uint64_t limit) {
  if (seen_.empty() || !port.lanes[watched_].running) {
    watched_ = port.last;
    renew_ = 1;
    keep(port, now);
    return false;
  }
  const PipelineLane& lane = port.lanes[watched_];
  if (port.last != watched_ || !may_repeat(lane)) return false;
  const Place here = place(lane);
  if (here.stretch != place_.stretch) renew_ = 1;
  if (here == place_) {
    describe(port, now);
    if (state_ == seen_) {
      const std::uint64_t cycles = now - then_;
      const std::uint64_t fit = limit > now ? (limit - 1 - now) / cycles : 0;
      const std::uint64_t times = std::min(periods(port), fit);
      if (times > 0) advance(port, times, cycles);
      seen_.clear();
      return times > 0;
    }
  }
  if (here.stretch != place_.stretch || ++since_ >= renew_) {
    renew_ *= 2;
    keep(port, now);
  }
  return false;
}

/// All that decides what issues next, times relative to now. What lies behind a context's slot has
/// no say.
void IssuePeriod::describe(const Port& port, std::uint64_t now) {
  state_.clear();
  std::uint64_t least = ~std::uint64_t{0};
  for (std::size_t i = 0; i < port.lanes.size(); ++i) {
    const PipelineLane& lane = port.lanes[i];
    if (!lane.running) continue;
    const Place here = place(lane);
    const std::uint32_t step = here.eventful > lane.step ? 0 : lane.step;
    const std::uint64_t slot = lane.board.slot();
    least = std::min(least, slot);
    for (const std::uint64_t each :
         {std::uint64_t{i}, here.stretch, std::uint64_t{here.issued}, std::uint64_t{here.eventful},
          std::uint64_t{step}, slot - now, lane.board.next() - now, lane.accounted - now})
      state_.push_back(each);
    lane.board.visit_after(slot, [&](unsigned number, std::uint64_t time, engine::Cause cause) {
      state_.push_back(time - now);
      state_.push_back(std::uint64_t{number} << 8 | static_cast<std::uint64_t>(cause));
    });
  }
  for (const std::uint64_t time : port.units) state_.push_back(time > least ? time - now : 0);
  state_.push_back(port.free - now);
}

void IssuePeriod::keep(const Port& port, std::uint64_t now) {
  describe(port, now);
  seen_.swap(state_);
  place_ = place(port.lanes[watched_]);
  then_ = now;
  since_ = 0;
  counted_.resize(port.lanes.size());
  for (std::size_t i = 0; i < port.lanes.size(); ++i) {
    const PipelineLane& lane = port.lanes[i];
    if (lane.running) counted_[i] = {lane.trace.front().times, lane.step, lane.stalls};
  }
}

/// How often what happened since can happen again.
std::uint64_t IssuePeriod::periods(const Port& port) const {
  std::uint64_t most = ~std::uint64_t{0};
  for (std::size_t i = 0; i < port.lanes.size(); ++i) {
    const PipelineLane& lane = port.lanes[i];
    if (!lane.running) continue;
    const std::uint64_t passes = counted_[i].times - lane.trace.front().times;
    const std::uint32_t slots = lane.step - counted_[i].step;
    if (passes > 0 && slots == 0) {
      most = std::min(most, (lane.trace.front().times - 1) / passes);
    } else if (passes == 0 && slots > 0) {
      most = std::min<std::uint64_t>(most, (lane.eventful_step() - lane.step) / slots);
    } else {
      return 0;
    }
  }
  return most;
}

void IssuePeriod::advance(const Port& port, std::uint64_t times, std::uint64_t cycles) const {
  const std::uint64_t later = times * cycles;
  for (std::size_t i = 0; i < port.lanes.size(); ++i) {
    PipelineLane& lane = port.lanes[i];
    if (!lane.running) continue;
    const Counted& before = counted_[i];
    lane.step += static_cast<std::uint32_t>(times) * (lane.step - before.step);
    lane.board.delay(later);
    lane.ready.at += later;
    lane.accounted += later;
    if (lane.trace.front().times != before.times) lane.last_issue += Cycle(later);
    for (std::size_t what = 0; what < Stalls::kCount; ++what)
      lane.stalls.cycles[what] += times * (lane.stalls.cycles[what] - before.stalls.cycles[what]);
    lane.trace.skip(times * (before.times - lane.trace.front().times));
  }
  for (std::uint64_t& time : port.units) time += later;
  port.free += later;
}

}  // namespace tessera
