#include "sim/trace/time_order.h"

#include <cstdint>

#include <doctest/doctest.h>

#include "sim/base/types.h"
#include "sim/data/random.h"

using namespace tessera;

namespace {

struct Item {
  Cycle at;
  std::uint32_t number;
};

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("items are ordered by time, those of one time as they came") {
    std::vector<Item> spare;
    for (const std::uint64_t range : {1ULL, 2ULL, 3000ULL, 1ULL << 22, ~0ULL}) {
      for (const std::uint32_t count : {0U, 1U, 255U, 256U, 5000U}) {
        CAPTURE(range);
        CAPTURE(count);
        std::vector<Item> items;
        for (std::uint32_t i = 0; i < count; ++i) {
          const std::uint64_t drawn = data::random_bits(1, 0, i) % range;
          items.push_back({Cycle(range == ~0ULL ? drawn : 1'000'000'000'000 + drawn), i});
        }
        trace::order_by_time(items, spare);
        REQUIRE(items.size() == count);
        for (std::size_t i = 1; i < items.size(); ++i) {
          const Item &before = items[i - 1], &item = items[i];
          const bool ordered =
              before.at < item.at || (before.at == item.at && before.number < item.number);
          REQUIRE(ordered);
        }
      }
    }
  }
}
