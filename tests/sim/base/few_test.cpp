#include "sim/base/few.h"

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/base/ranges.h"

using tessera::Few;

namespace {

struct Pair {
  std::uint32_t first, second = 7;
  bool operator==(const Pair&) const = default;
};

std::vector<Pair> all(const Few<Pair>& list) { return {list.begin(), list.end()}; }

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a list of few values holds what a vector holds, at every length") {
    Few<Pair> list;
    std::vector<Pair> expected;
    for (std::uint32_t i = 0; i < 20; ++i) {
      CHECK(all(list) == expected);
      CHECK(list.empty() == expected.empty());
      Few<Pair> copy = list;
      const Few<Pair> second = copy;
      Few<Pair> moved = std::move(copy);
      moved.push_back({i, i});
      if (!list.empty()) moved[0] = {99, 99};
      CHECK(all(list) == expected);  // copies are independent
      CHECK(all(second) == expected);
      copy = moved;
      CHECK(copy.size() == expected.size() + 1);
      copy.pop_back();
      CHECK(copy.size() == expected.size());
      list.push_back({i, 2 * i});
      expected.push_back({i, 2 * i});
    }
    list.push_back(list[3]);  // aliases an element, with and without spare capacity
    expected.push_back(expected[3]);
    CHECK(all(list) == expected);
    CHECK(all({{1, 2}, {3, 4}, {5}}) == std::vector<Pair>{{1, 2}, {3, 4}, {5, 7}});
  }

  TEST_CASE("values of a list stand once each in order, whether they crowd or not") {
    std::vector<std::uint8_t> bytes;
    for (std::uint32_t i = 0; i < 600; ++i) bytes.push_back(static_cast<std::uint8_t>(i * 7));
    CHECK(tessera::sorted_once(bytes).size() == 256);
    for (const std::uint32_t spread : {1U, 3U, 40U, 1'000'000U}) {
      std::vector<std::uint32_t> list;
      for (std::uint32_t i = 0; i < 40; ++i) {
        const std::set<std::uint32_t> once(list.begin(), list.end());
        CHECK(tessera::sorted_once(list) == std::vector<std::uint32_t>(once.begin(), once.end()));
        list.push_back(i * 2654435761U % spread);
      }
    }
  }
}
