#include "models/tile/ready_order.h"

#include <algorithm>
#include <map>
#include <random>

#include <doctest/doctest.h>

#include "sim/base/ranges.h"

namespace tessera {
namespace {

std::vector<ReadyOrder::Number> listed(const ReadyOrder& order) {
  std::vector<ReadyOrder::Number> all;
  for (auto each = order.first(); each != order.end(); each = order.behind(each))
    all.push_back(each);
  return all;
}

std::vector<ReadyOrder::Number> sorted(const std::map<ReadyOrder::Number, std::uint64_t>& times) {
  std::vector<ReadyOrder::Number> all = mapped(times, [](const auto& each) { return each.first; });
  std::ranges::stable_sort(all, {}, [&](ReadyOrder::Number each) { return times.at(each); });
  return all;
}

}  // namespace
}  // namespace tessera

using namespace tessera;

TEST_SUITE("unit") {
  TEST_CASE("ready contexts are ordered by time, then by number") {
    std::mt19937 random(1);
    constexpr ReadyOrder::Number kCount = 9;
    ReadyOrder order(kCount);
    std::map<ReadyOrder::Number, std::uint64_t> times;
    CHECK(order.first() == order.end());
    for (int i = 0; i < 2000; ++i) {
      const auto number = static_cast<ReadyOrder::Number>(random() % kCount);
      if (random() % 4 == 0) {
        order.remove(number);
        times.erase(number);
      } else {
        order.put(number, times[number] = random() % 20);
      }
      REQUIRE(listed(order) == sorted(times));
      for (const auto& [each, time] : times) REQUIRE(order.time(each) == time);
    }
  }
}
