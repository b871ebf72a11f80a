#include "sim/engine/pipeline.h"

namespace tessera::engine {
namespace {

std::size_t index(Unit unit) { return static_cast<std::size_t>(unit); }

/// `ready` is put off to `time` by `cause`.
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
  std::uint64_t uses = 0;
  for (const Demand& demand : group) uses |= demand.uses;
  for (std::uint64_t left = uses & pending_; left != 0; left &= left - 1) {
    const auto number = static_cast<unsigned>(std::countr_zero(left));
    put_off(ready, times_[number], causes_[number]);
  }
  return ready;
}

Scoreboard::Ready Scoreboard::ready(std::span<const Demand> group, const UnitTimes& units) const {
  Ready ready = this->ready(group);
  for (const Demand& demand : group) put_off(ready, units[index(demand.unit)], demand.cause);
  return ready;
}

void Scoreboard::issue(std::span<const Demand> group, Time at, UnitTimes& units) {
  std::uint32_t slots = 0;
  for (const Demand& demand : group) {
    slots = std::max(slots, demand.slots);
    const Time last = at + demand.slots - 1;
    for (std::uint64_t left = demand.makes; left != 0; left &= left - 1)
      expect(static_cast<unsigned>(std::countr_zero(left)), last + demand.latency, demand.cause);
    for (std::uint64_t left = demand.loads; left != 0; left &= left - 1)
      expect(static_cast<unsigned>(std::countr_zero(left)), last + demand.load_latency,
             Cause::load);
    if (demand.interval > 1) units[index(demand.unit)] = at + demand.interval;
  }
  end_ = at + slots;
  // What takes no slot, such as `run`, puts nothing off.
  slot_ = next_ = slots == 0 ? at : std::max<Time>(end_, at + distance_);
}

void Scoreboard::expect(unsigned number, Time time, Cause cause) {
  pending_ |= std::uint64_t{1} << number;
  times_[number] = time;
  causes_[number] = cause;
}

}  // namespace tessera::engine
