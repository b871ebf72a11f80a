#pragma once

#include <cstdint>
#include <vector>

#include "sim/program/flow.h"

/// When each buffer is live. Times are indices of steps; -1 is before the first step and
/// the number of steps is after the last.
namespace tessera::program {

struct Lifetime {
  std::int32_t first = 0;
  std::int32_t last = -1;  ///< inclusive; before first: the buffer is never used

  [[nodiscard]] bool used() const { return last >= first; }
  [[nodiscard]] bool overlaps(const Lifetime& other) const {
    return first <= other.last && other.first <= last;
  }
  auto operator<=>(const Lifetime&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// The lifetime of every buffer, in the steps of its tile's zone. Both ends of a copy are live
/// during its exchange, up to its wait; a buffer used in a loop and live outside it is live during
/// the whole loop.
std::vector<Lifetime> lifetimes(const Program& program, const Flow& flow);

}  // namespace tessera::program
