#pragma once

#include <array>
#include <cstdint>
#include <cstring>

namespace tessera::test {

/// The accumulators of a matrix unit, compared bit by bit.
struct Banks {
  alignas(64) std::array<float, 16> acc{};
  alignas(64) std::array<float, 16> exc{};
  [[nodiscard]] std::array<std::uint32_t, 32> bits() const {
    std::array<std::uint32_t, 32> all{};
    std::memcpy(all.data(), acc.data(), sizeof acc);
    std::memcpy(all.data() + 16, exc.data(), sizeof exc);
    return all;
  }
  bool operator==(const Banks& other) const { return bits() == other.bits(); }
};

}  // namespace tessera::test
