#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "sim/isa/packed/matrix.h"

namespace tessera::test {

/// A matrix unit's accumulators, compared bit by bit.
struct Banks {
  static constexpr std::size_t kSums = packed::kMostOutputs;

  Banks() : view{storage[0].data(), storage[1].data()} {}
  Banks(const Banks&) = delete;
  Banks& operator=(const Banks&) = delete;
  [[nodiscard]] std::array<std::uint32_t, 2 * kSums> bits() const {
    std::array<std::uint32_t, 2 * kSums> all{};
    std::memcpy(all.data(), view.acc, sizeof storage[0]);
    std::memcpy(all.data() + kSums, view.exc, sizeof storage[1]);
    return all;
  }

  std::array<float, kSums> storage[2]{};
  packed::Banks view;  ///< an instruction with kAmpStart swaps these pointers
  bool operator==(const Banks& other) const { return bits() == other.bits(); }
};

}  // namespace tessera::test
