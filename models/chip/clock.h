#pragma once

#include <cmath>
#include <cstdint>

#include <systemc>

#include "sim/base/types.h"

namespace tessera {

/// Integer cycles of a chip as SystemC time, to the femtosecond. Reports never go back from
/// sc_time: 1/1.85 GHz is no whole number of femtoseconds.
class Clock {
 public:
  explicit Clock(double gigahertz)
      : femtoseconds_(static_cast<std::uint64_t>(std::llround(1e6 / gigahertz))) {}
  [[nodiscard]] sc_core::sc_time time(Cycle cycle) const {
    return sc_core::sc_time::from_value(cycle.count() * femtoseconds_);
  }
  /// The last cycle that time() can express.
  [[nodiscard]] Cycle last() const { return Cycle(UINT64_MAX / femtoseconds_); }

 private:
  std::uint64_t femtoseconds_;
};

}  // namespace tessera
