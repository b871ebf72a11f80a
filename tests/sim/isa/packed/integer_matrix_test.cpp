#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

#include <doctest/doctest.h>

#include "sim/isa/packed/matrix.h"
#include "tests/sim/isa/packed/banks.h"

using namespace tessera;
using test::Banks;

TEST_SUITE("unit") {
  TEST_CASE("amp.b multiplies bytes into wrapping accumulators; srs.b rounds and saturates") {
    std::mt19937_64 random(21);
    int wrong = 0;
    std::array<std::int64_t, 32> sums{};
    Banks banks;
    for (unsigned k = 0; k < 1'000'000; ++k) {
      std::uint64_t a[4];
      std::uint64_t block[8];
      for (auto& word : a) word = random();
      for (auto& word : block) word = random();
      const bool clear = k % 50 == 0;
      if (clear) sums.fill(0);
      for (unsigned i = 0; i < 256; ++i) {
        const auto x = static_cast<std::int8_t>(a[i / 64] >> 8 * (i / 8 % 8));
        const auto w = static_cast<std::int8_t>(block[i / 8 % 8] >> 8 * (i % 8));
        sums[i / 64 * 8 + i % 8] += std::int64_t{x} * w;
      }
      packed::amp_b(banks.view, a, block, clear);
      const unsigned group = k % 4;
      const unsigned shift = k % 21;
      const std::uint64_t got = packed::srs_b(banks.view, group, shift);
      for (unsigned j = 0; j < 8; ++j) {
        const double scaled = static_cast<double>(sums[group * 8 + j]) / (1 << shift);
        const double rounded = std::clamp(std::nearbyint(scaled), -128.0, 127.0);
        if (static_cast<std::int8_t>(got >> 8 * j) != rounded) ++wrong;
      }
    }
    CHECK(wrong == 0);
  }

  TEST_CASE("accumulators of amp.b wrap") {
    Banks banks;
    banks.view.exc[15] = std::bit_cast<float>(INT32_MAX);
    const std::uint64_t a[4] = {0, 0, 0, 1};
    const std::uint64_t block[8] = {std::uint64_t{1} << 56};
    packed::amp_b(banks.view, a, block, false);
    CHECK(std::bit_cast<std::int32_t>(banks.view.exc[15]) == INT32_MIN);
    CHECK(packed::srs_b(banks.view, 3, 31) == std::uint64_t{0xff} << 56);
  }
}
