#include "sim/plan/fitted_cost.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "sim/plan/calls.h"

using namespace tessera;

TEST_SUITE("unit") {
  TEST_CASE("an affine cost is measured at few sizes and known at all") {
    const auto law = [](const plan::Sizes& s) {
      return 100 + s[0] / 6 * 24 + (s[0] % 6 > 0 ? 24 : 0) + s[1] * (40 + s[0] / 6 * 7);
    };
    FittedCost cost({{6, 18}, {1, 2}});
    for (std::uint64_t n = 1; n < 3000; ++n) {
      for (const std::uint64_t m : {1U, 2U, 3U, 17U, 1000U})
        REQUIRE(cost({n, m}, law) == law({n, m}));
    }
    CHECK(cost.measured() < 400);
  }

  TEST_CASE("costs that settle late are fitted where they have settled") {
    const auto law = [](const plan::Sizes& s) {
      const std::uint64_t settling = std::min<std::uint64_t>(s[0], 7);
      return 10 * s[0] + 9 * settling * settling;
    };
    FittedCost cost({{1, 1}});
    for (const std::uint64_t n : {3U, 7U, 8U, 20U, 1'000'000U}) CHECK(cost({n}, law) == law({n}));
    CHECK(cost.measured() < 15);
  }

  TEST_CASE("costs hidden at small sizes show at large ones") {
    const auto law = [](const plan::Sizes& s) {
      return s[1] * (std::max<std::uint64_t>(3000, 48 * s[0]) + 20);
    };
    FittedCost cost({{6, 24}, {1, 2}});
    for (const std::uint64_t n : {20U, 48U, 85U, 300U, 600U, 6000U})
      for (const std::uint64_t m : {1U, 20U, 400U}) CHECK(cost({n, m}, law) == law({n, m}));
  }

  TEST_CASE("sizes without a law use those of the others") {
    const auto law = [](const plan::Sizes& s) { return 1000 + s[0] * s[0] % 1009 * s[1]; };
    FittedCost cost({{1, 1}, {1, 1}});
    CHECK(cost({500, 1'000'000}, law) == law({500, 1'000'000}));
    CHECK(cost.measured() < 25);
  }

  TEST_CASE("a cost without a law is measured at every size") {
    const auto law = [](const plan::Sizes& s) { return s[0] * s[0] % 1009; };
    FittedCost cost({{1, 1}});
    for (std::uint64_t n = 1; n < 500; ++n) REQUIRE(cost({n}, law) == law({n}));
  }
}
