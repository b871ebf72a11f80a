#include "sim/engine/access_log.h"

#include <random>
#include <set>

#include <doctest/doctest.h>

using tessera::engine::ByteRange;
using tessera::engine::ByteSet;

TEST_SUITE("unit") {
  TEST_CASE("a set of bytes has those that were added, also where it was read between") {
    std::mt19937 random(1);
    for (int trial = 0; trial < 40; ++trial) {
      ByteSet set;
      std::set<std::uint32_t> bytes;
      for (int i = 0; i < 60; ++i) {
        const auto address = static_cast<std::uint32_t>(random() % 400);
        const auto count = static_cast<std::uint32_t>(1 + random() % 8);
        set.add(address, count);
        for (std::uint32_t byte = 0; byte < count; ++byte) bytes.insert(address + byte);
        if (random() % 4 != 0 && i != 59) continue;
        std::vector<ByteRange> expected;
        for (const std::uint32_t byte : bytes) {
          if (expected.empty() || expected.back().end != byte) expected.push_back({byte, byte});
          expected.back().end = byte + 1;
        }
        REQUIRE(set.ranges() == expected);
      }
      set.clear();
      CHECK(set.ranges().empty());
    }
  }
}
