#include "sim/isa/packed/integer_unit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>

#include <doctest/doctest.h>

using namespace tessera;
using packed::IntegerUnit;

namespace {

int byte_of(const IntegerUnit::Half& half, unsigned at) {
  return static_cast<std::int8_t>(half[at / 8] >> 8 * (at % 8));
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("amp.b multiplies bytes into its sums; requantising rounds and saturates") {
    std::mt19937_64 random(21);
    int wrong = 0;
    std::array<std::int64_t, 32> sums{};
    IntegerUnit::Accumulator accumulator{};
    for (unsigned k = 0; k < 100'000; ++k) {
      IntegerUnit::Half inputs;
      IntegerUnit::Half weights[2];
      for (IntegerUnit::Half* half : {&inputs, &weights[0], &weights[1]})
        for (auto& word : *half) word = random();
      if (k % 50 == 0) {
        sums.fill(0);
        accumulator.fill(0);
      }
      for (unsigned at = 0; at < 32; ++at) {
        for (unsigned i = 0; i < 8; ++i) {
          const std::int64_t x = byte_of(inputs, at / 8 * 8 + i);
          sums[at] += x * byte_of(weights[i / 4], i % 4 * 8 + at % 8);
        }
      }
      packed::amp_b(accumulator, inputs, weights);
      const unsigned shift = k % 21;
      const unsigned relu = k / 21 % 2;
      const IntegerUnit::Half got = packed::requantised(accumulator, shift | relu << 5);
      for (unsigned at = 0; at < 32; ++at) {
        const double scaled = static_cast<double>(sums[at]) / (1 << shift);
        const double rounded = std::clamp(std::nearbyint(scaled), relu == 1 ? 0 : -128.0, 127.0);
        if (byte_of(got, at) != rounded) ++wrong;
      }
    }
    CHECK(wrong == 0);
  }

  TEST_CASE("sums of amp.b wrap, and a shift by 31 leaves the sign") {
    IntegerUnit::Accumulator accumulator{};
    accumulator[31] = INT32_MAX;
    const IntegerUnit::Half inputs = {0, 0, 0, 1};
    const IntegerUnit::Half weights[2] = {{std::uint64_t{1} << 56, 0, 0, 0}, {}};
    packed::amp_b(accumulator, inputs, weights);
    CHECK(accumulator[31] == INT32_MIN);
    CHECK(packed::requantised(accumulator, 31)[3] == std::uint64_t{0xff} << 56);
  }
}
