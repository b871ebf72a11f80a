#include <bit>
#include <cmath>
#include <cstdint>

#include <doctest/doctest.h>

#include "kernels/check/ordered_sums.h"

namespace tessera::kernels {

namespace {

bool same(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

}  // namespace

TEST_CASE("floats round to f16 in 32 bits as they do in 64") {
  unsigned wrong = 0;
  // All f16 values, their midpoints and the floats next to both: 12 and 13 bits below f16's last.
  for (std::uint64_t high = 0; high <= 0xffffffffU; high += 0x1000) {
    for (const int next : {-1, 0, 1}) {
      const auto value =
          std::bit_cast<float>(static_cast<std::uint32_t>(high) + static_cast<std::uint32_t>(next));
      if (!same(to_half(value), static_cast<float>(to_half(static_cast<double>(value))))) ++wrong;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("a float rounded to f16 is a tie's even neighbour, a multiple of 2^-24 or infinite") {
  CHECK(to_half(1 + 0x1p-11F) == 1);
  CHECK(to_half(1 + 0x3p-11F) == 1 + 0x1p-9F);
  CHECK(to_half(0x1.8p-25F) == 0x1p-24F);
  CHECK(to_half(0x1p-25F) == 0);
  CHECK(to_half(65519.0F) == 65504.0F);
  CHECK(std::isinf(to_half(65520.0F)));
  CHECK(std::signbit(to_half(-0x1p-30F)));
}

}  // namespace tessera::kernels
