#include "models/tile/issue_period.h"

namespace tessera {

namespace {

constexpr std::uint64_t kPrice = 4;  // issues per context, about the cost of one comparison
constexpr std::uint64_t kMostCredit = 4096;

}  // namespace

IssuePeriod::Place IssuePeriod::place(const PipelineLane& lane) {
  return {lane.trace.number(), lane.issued, lane.eventful_step()};
}

/// True if looking for a period may pay.
bool IssuePeriod::may_repeat(const PipelineLane& lane) {
  return lane.trace.front().times > 2 || lane.steps > 2;
}

/// Scans from the next context in turn; those that have just begun an instruction come last.
bool IssuePeriod::all_within(const Port& port) {
  std::size_t at = port.last;
  for (std::size_t i = 0; i < port.lanes.size(); ++i) {
    at = at + 1 == port.lanes.size() ? 0 : at + 1;
    const PipelineLane& lane = port.lanes[at];
    if (!lane.running) continue;
    if (lane.step == 0 || lane.step + 1 >= lane.steps || lane.step >= lane.eventful_step())
      return false;
  }
  return true;
}

/// If contexts execute long instructions together, a period starts once the last of them has begun
/// its next one; waits a few rounds for that.
bool IssuePeriod::begins(const Port& port) {
  constexpr std::uint64_t kRounds = 8;
  if (!long_ || (port.lanes[port.last].step != 0 && all_within(port))) return true;
  long_ = issues_ < kRounds * port.lanes.size();
  return !long_;
}

bool IssuePeriod::pays(const Port& port) {
  const std::uint64_t price = kPrice * port.lanes.size();
  if (credit_ < price) return false;
  credit_ -= price;
  return true;
}

bool IssuePeriod::skip(const Port& port, std::uint64_t now, std::uint64_t limit) {
  ++issues_;
  credit_ = std::min(credit_ + 1, kMostCredit);
  if (seen_.empty() || !port.lanes[watched_].running) {
    if (!begins(port) || !pays(port)) return false;
    watched_ = port.last;
    renew_ = 1;
    keep(port, now);
    return false;
  }
  const PipelineLane& lane = port.lanes[watched_];
  if (port.last != watched_ || !may_repeat(lane)) return false;
  const Place here = place(lane);
  if (here.stretch != place_.stretch) renew_ = 1;
  if (here == place_ && pays(port) && recurs(port, now)) {
    const std::uint64_t cycles = now - then_;
    const std::uint64_t fit = limit > now ? (limit - 1 - now) / cycles : 0;
    const std::uint64_t times = std::min(periods(port), fit);
    long_ = counted_[watched_].times == lane.trace.front().times;
    if (times > 0) advance(port, times, cycles);
    credit_ = std::min(credit_ + std::min(times, kMostCredit) * issues_, kMostCredit);
    seen_.clear();
    issues_ = 0;
    return times > 0;
  }
  if ((here.stretch != place_.stretch || ++since_ >= renew_) && pays(port)) {
    renew_ *= 2;
    keep(port, now);
  }
  return false;
}

/// Passes the state that determines the next issues, with times relative to now, to take(word),
/// word by word while it returns true. Code after a context's slot has no influence.
template <class Take>
void IssuePeriod::describe(const Port& port, std::uint64_t now, const Take& take) {
  std::uint64_t least = ~std::uint64_t{0};
  for (std::size_t i = 0; i < port.lanes.size(); ++i) {
    PipelineLane& lane = port.lanes[i];
    if (!lane.running) continue;
    lane.board.forget_past();
    const Place here = place(lane);
    const std::uint32_t step = here.eventful > lane.step ? 0 : lane.step;
    const std::uint64_t slot = lane.board.slot();
    least = std::min(least, slot);
    for (const std::uint64_t each :
         {std::uint64_t{i}, slot - now, here.stretch, std::uint64_t{here.issued},
          std::uint64_t{here.eventful}, std::uint64_t{step}, lane.board.next() - now,
          lane.accounted - now}) {
      if (!take(each)) return;
    }
    lane.board.visit_after(slot, [&](unsigned number, std::uint64_t time, engine::Cause cause) {
      take(time - now);
      take(std::uint64_t{number} << 8 | static_cast<std::uint64_t>(cause));
    });
  }
  for (const std::uint64_t time : port.units) take(time > least ? time - now : 0);
  take(port.free - now);
}

bool IssuePeriod::recurs(const Port& port, std::uint64_t now) const {
  std::size_t taken = 0;
  bool same = true;
  describe(port, now, [&](std::uint64_t word) {
    same = same && taken < seen_.size() && seen_[taken++] == word;
    return same;
  });
  return same && taken == seen_.size();
}

void IssuePeriod::keep(const Port& port, std::uint64_t now) {
  seen_.clear();
  describe(port, now, [&](std::uint64_t word) {
    seen_.push_back(word);
    return true;
  });
  place_ = place(port.lanes[watched_]);
  then_ = now;
  since_ = 0;
  issues_ = 0;
  counted_.resize(port.lanes.size());
  for (std::size_t i = 0; i < port.lanes.size(); ++i) {
    const PipelineLane& lane = port.lanes[i];
    if (lane.running) counted_[i] = {lane.trace.front().times, lane.step, lane.stalls};
  }
}

/// How many times the recorded period can repeat.
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
