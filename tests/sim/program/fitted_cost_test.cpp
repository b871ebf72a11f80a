#include "sim/program/fitted_cost.h"

#include <doctest/doctest.h>

using namespace tessera;
using Sizes = FittedCost::Sizes;

TEST_SUITE("unit") {
  TEST_CASE("an affine cost is measured at few sizes and known at all") {
    const auto law = [](const Sizes& s) {
      return 100 + s[0] / 6 * 24 + (s[0] % 6 > 0 ? 24 : 0) + s[1] * (40 + s[0] / 6 * 7);
    };
    FittedCost cost({{6, 18}, {1, 2}}, law);
    for (std::uint64_t n = 1; n < 3000; ++n) {
      for (const std::uint64_t m : {1U, 2U, 3U, 17U, 1000U}) REQUIRE(cost({n, m}) == law({n, m}));
    }
    CHECK(cost.measured() < 400);
  }

  TEST_CASE("what settles late is fitted where it has settled") {
    const auto law = [](const Sizes& s) { return 10 * s[0] + 500 / s[0]; };
    FittedCost cost({{1, 1}}, law);
    CHECK(static_cast<double>(cost({1'000'000})) == doctest::Approx(1e7).epsilon(0.01));
  }

  TEST_CASE("a cost without a law is measured at every size") {
    const auto law = [](const Sizes& s) { return s[0] * s[0] % 1009; };
    FittedCost cost({{1, 1}}, law);
    for (std::uint64_t n = 1; n < 500; ++n) REQUIRE(cost({n}) == law({n}));
  }

  TEST_CASE("answers do not depend on what was asked before") {
    const auto law = [](const Sizes& s) { return 7 * s[0] + s[0] % 5 + 1000; };
    FittedCost up({{1, 1}}, law);
    FittedCost down({{1, 1}}, law);
    std::vector<std::uint64_t> answers;
    for (std::uint64_t n = 1; n < 300; ++n) answers.push_back(up({n}));
    for (std::uint64_t n = 299; n >= 1; --n) CHECK(down({n}) == answers[n - 1]);
  }
}
