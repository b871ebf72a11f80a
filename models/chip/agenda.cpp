#include "models/chip/agenda.h"

#include <algorithm>

#include "sim/base/errors.h"

namespace tessera {

void Agenda::notify(sc_core::sc_event& event, Cycle cycle) const {
  if (cycle > clock_.last()) throw OutOfTime{clock_.last()};
  const sc_core::sc_time time = clock_.time(cycle);
  const sc_core::sc_time& now = sc_core::sc_time_stamp();
  check(time >= now, "chip: an event at cycle {} lies in the past", cycle.count());
  event.cancel();
  event.notify(time - now);
}

void Agenda::end(Cycle cycle) {
  open_ = false;
  notify(ended_, cycle);
}

void Agenda::Alarm::set(Cycle cycle) {
  agenda_.notify(event_, cycle);
  agenda_.next_[module_] = cycle;
}

bool Agenda::Alarm::rings() {
  const Cycle mine = cycle();
  if (mine == kNever || agenda_.clock_.time(mine) > sc_core::sc_time_stamp()) return false;
  const auto first = std::ranges::min_element(agenda_.next_);  // ties: the first module
  if (first - agenda_.next_.begin() == module_) return true;
  event_.notify(sc_core::SC_ZERO_TIME);
  return false;
}

}  // namespace tessera
