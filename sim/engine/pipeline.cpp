#include "sim/engine/pipeline.h"

namespace tessera::engine {
namespace {

std::size_t index(Unit unit) { return static_cast<std::size_t>(unit); }

/// Delays `ready` to `time`, because of `cause`.
void put_off(Scoreboard::Ready& ready, Scoreboard::Time time, Cause cause) {
  if (time <= ready.at) return;
  ready.waited += time - ready.at;
  ready.at = time;
  ready.cause = cause;
}

}  // namespace

Scoreboard::Ready Scoreboard::ready(std::span<const Demand> group) const {
  Ready ready{slot_, 0, Cause::branch};
  put_off(ready, next_, Cause::branch);
  RegisterMask uses;
  RegisterMask firm;  // not forwarded
  for (const Demand& demand : group) {
    uses = uses | demand.uses;
    firm = firm | (demand.uses & ~demand.accumulates);
  }
  (uses & pending_).each([&](unsigned number) {
    const bool forwarded =
        causes_[number] == Cause::matrix && (RegisterMask::of(number) & firm).empty();
    if (!forwarded) put_off(ready, times_[number], causes_[number]);
  });
  return ready;
}

Scoreboard::Ready Scoreboard::ready(std::span<const Demand> group, const UnitTimes& units) const {
  Ready ready = this->ready(group);
  for (const Demand& demand : group) put_off(ready, units[index(demand.unit)], demand.cause);
  return ready;
}

void Scoreboard::issue(std::span<const Demand> group, Time at, UnitTimes& units) {
  issue(group, 0, at, units);
  for (std::uint32_t step = 1; step < issues_of(group); ++step) issue(group, step, slot_, units);
}

void Scoreboard::issue(std::span<const Demand> group, std::uint32_t step, Time at,
                       UnitTimes& units) {
  const auto each = [&](RegisterMask registers, Time time, Cause cause) {
    registers.each([&](unsigned number) { expect(number, time, cause); });
  };
  end_ = slot_ = next_ = at;
  for (const Demand& demand : group) {
    if (step == 0 && demand.interval > 1) units[index(demand.unit)] = at + demand.interval;
    // An instruction without a slot, such as `run`, delays nothing.
    if (demand.slots > 0) {
      end_ = at + 1;
      slot_ = next_ = at + distance_;
    }
    if (step + 1 != demand.slots) continue;
    each(demand.makes, at + demand.latency, demand.cause);
    each(demand.loads, at + demand.load_latency, Cause::load);
  }
}

void Scoreboard::delay(Time cycles) {
  end_ += cycles;
  slot_ += cycles;
  next_ += cycles;
  for (Time& time : times_) time += cycles;
}

void Scoreboard::expect(unsigned number, Time time, Cause cause) {
  pending_ = pending_ | RegisterMask::of(number);
  times_[number] = time;
  causes_[number] = cause;
}

}  // namespace tessera::engine
