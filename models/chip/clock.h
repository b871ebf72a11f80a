#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <systemc>

#include "sim/base/types.h"

namespace tessera {

/// Integer cycles of a chip as SystemC time, rounded up at the platform's resolution: no event lies
/// before its cycle, and several cycles may share one time. So order and reports come from cycles
/// and never from sc_time; 1/1.85 GHz is no whole number of femtoseconds either.
class Clock {
 public:
  explicit Clock(double gigahertz)
      : femtoseconds_(static_cast<std::uint64_t>(std::llround(1e6 / gigahertz))) {}

  /// Cycle `cycle` is at the time `now`, and later ones count from there. As the others, to be
  /// called while the simulation runs: asking SystemC for its resolution would fix that.
  void start(Cycle cycle, const sc_core::sc_time& now) {
    first_ = cycle;
    origin_ = now.value();
  }
  /// SystemC time of a cycle between that of start() and last().
  [[nodiscard]] sc_core::sc_time time(Cycle cycle) const {
    return sc_core::sc_time::from_value(origin_ + ticks(cycle - first_));
  }
  /// The first cycle that is not before `time`, or the last of those that share its instant: when
  /// SystemC is at `time`, all that follows in later cycles lies ahead. `time` is not before that
  /// of start(); a time too late to express gives a cycle behind last().
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
  /// Femtoseconds of the platform's smallest time.
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
