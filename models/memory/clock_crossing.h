#pragma once

#include <cmath>
#include <cstdint>
#include <numeric>

#include "sim/base/types.h"

namespace tessera {

/// Converts cycles of the chip's clock to edges of another clock and back. Both clocks are rounded
/// to whole kHz and have an edge at time 0.
class ClockCrossing {
 public:
  ClockCrossing(double chip_ghz, double other_ghz) {
    const std::uint64_t chip = kilohertz(chip_ghz);
    const std::uint64_t other = kilohertz(other_ghz);
    const std::uint64_t both = std::gcd(chip, other);
    chip_ = chip / both;
    other_ = other / both;
  }

  /// The first edge of the other clock at or after `cycle`.
  [[nodiscard]] std::uint64_t clock(Cycle cycle) const {
    return scale<true>(cycle.count(), other_, chip_);
  }
  /// The first cycle at or after the edge `clock`.
  [[nodiscard]] Cycle cycle(std::uint64_t clock) const {
    return Cycle(scale<true>(clock, chip_, other_));
  }
  /// The cycle in which the edge `clock` lies.
  [[nodiscard]] Cycle cycle_of(std::uint64_t clock) const {
    return Cycle(scale<false>(clock, chip_, other_));
  }

 private:
  __extension__ using Wide = unsigned __int128;

  static std::uint64_t kilohertz(double ghz) {
    constexpr double kKilohertz = 1e6;
    return static_cast<std::uint64_t>(std::llround(ghz * kKilohertz));
  }
  template <bool up>
  static std::uint64_t scale(std::uint64_t time, std::uint64_t to, std::uint64_t from) {
    std::uint64_t narrow = 0;
    if (!__builtin_mul_overflow(time, to, &narrow) && narrow <= UINT64_MAX - from)
      return up ? ceil_div(narrow, from) : narrow / from;
    const Wide wide = Wide{time} * to;
    return static_cast<std::uint64_t>(up ? (wide + from - 1) / from : wide / from);
  }

  std::uint64_t chip_;   ///< kHz, over the common divisor
  std::uint64_t other_;  ///< kHz, over the common divisor
};

}  // namespace tessera
