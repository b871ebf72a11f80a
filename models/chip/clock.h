#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <systemc>

#include "sim/base/types.h"

namespace tessera {

/// Converts a chip's integer cycles to SystemC time, rounded up to the platform's resolution: no
/// event precedes its cycle, and several cycles may share one time. So order and reports use
/// cycles, never sc_time; 1/1.85 GHz is not a whole number of femtoseconds either.
class Clock {
 public:
  explicit Clock(double gigahertz)
      : femtoseconds_(static_cast<std::uint64_t>(std::llround(1e6 / gigahertz))) {}

  /// Places cycle `cycle` at time `now`; later cycles count from there. Call this and the other
  /// functions only while the simulation runs: reading SystemC's resolution fixes it.
  void start(Cycle cycle, const sc_core::sc_time& now) {
    first_ = cycle;
    origin_ = now.value();
  }
  /// SystemC time of a cycle between that of start() and last().
  [[nodiscard]] sc_core::sc_time time(Cycle cycle) const {
    return sc_core::sc_time::from_value(origin_ + ticks(cycle - first_));
  }
  /// The first cycle at or after `time`; if several share its instant, the last: later cycles then
  /// lie after `time`. `time` must not precede start()'s; a time too late to express gives a cycle
  /// after last().
  [[nodiscard]] Cycle cycle(const sc_core::sc_time& time) const {
    __extension__ using Wide = unsigned __int128;
    const std::uint64_t passed = time.value() - origin_;
    const Wide least = passed == 0 ? 0 : (Wide{passed} - 1) * resolution() / femtoseconds_ + 1;
    const Wide instant = (least * femtoseconds_ + resolution() - 1) / resolution();
    const Wide cycles = instant * resolution() / femtoseconds_;
    return first_ + Cycle(static_cast<std::uint64_t>(std::min<Wide>(cycles, UINT64_MAX / 8)));
  }
  /// SystemC time that a duration takes, rounded up.
  [[nodiscard]] sc_core::sc_time duration(Cycle cycles) const {
    return sc_core::sc_time::from_value(ticks(cycles));
  }
  /// The last cycle that time() can express.
  [[nodiscard]] Cycle last() const {
    const std::uint64_t room = std::min(UINT64_MAX - origin_, UINT64_MAX / resolution());
    return first_ + Cycle(room * resolution() / femtoseconds_);
  }

 private:
  /// The platform's time resolution in femtoseconds.
  static std::uint64_t resolution() {
    return static_cast<std::uint64_t>(
        std::llround(sc_core::sc_get_time_resolution().to_seconds() * 1e15));
  }
  [[nodiscard]] std::uint64_t ticks(Cycle cycles) const {
    const std::uint64_t femtoseconds = cycles.count() * femtoseconds_;
    return femtoseconds / resolution() + (femtoseconds % resolution() != 0 ? 1 : 0);
  }

  std::uint64_t femtoseconds_;  ///< length of a cycle
  Cycle first_;
  std::uint64_t origin_ = 0;  ///< time of `first_`, in units of the resolution
};

}  // namespace tessera
