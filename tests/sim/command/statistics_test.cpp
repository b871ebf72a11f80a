#include "sim/command/statistics.h"

#include <cmath>

#include <doctest/doctest.h>

using namespace tessera::command;

TEST_SUITE("unit") {
  TEST_CASE("the median of an even number of values is the mean of the middle two") {
    CHECK(median({3, 1, 2}) == 2);
    CHECK(median({4, 1, 2, 3}) == 2.5);
  }

  TEST_CASE("a share counts both ends of its range") {
    CHECK(share_within({0.5, 1, 2, 3}, 0.5, 2) == 0.75);
    CHECK(share_within({}, 0, 1) == 0);
  }

  TEST_CASE("rank correlation sees order alone, and equal values have equal ranks") {
    CHECK(rank_correlation({1, 2, 3, 4}, {1, 10, 100, 1000}) == doctest::Approx(1));
    CHECK(rank_correlation({1, 2, 3, 4}, {4, 3, 2, 1}) == doctest::Approx(-1));
    // Ranks 0, 1, 2, 3 against 0, 1.5, 1.5, 3.
    CHECK(rank_correlation({1, 2, 3, 4}, {1, 2, 2, 4}) ==
          doctest::Approx(4.5 / std::sqrt(4.5 * 5)));
    // The order within a tie of the first list does not count; moving one of the tie to the end
    // does.
    CHECK(rank_correlation({1, 2, 2, 4}, {1, 2, 3, 4}) == doctest::Approx(1));
    CHECK(rank_correlation({1, 2, 2, 4}, {1, 3, 2, 4}) == doctest::Approx(1));
    CHECK(rank_correlation({1, 2, 2, 4}, {1, 2, 4, 3}) < 0.95);
    CHECK(rank_correlation({1, 1}, {1, 2}) == 0);
  }

  TEST_CASE("exponents of a product of powers are found again") {
    std::vector<std::vector<double>> xs;
    std::vector<double> ys;
    for (const double m : {1024.0, 4096.0}) {
      for (const double d : {0.25, 0.03125}) {
        for (const double b : {1.0, 4.0, 16.0}) {
          xs.push_back({m, d, b});
          ys.push_back(0.0013 * std::pow(m, 0.59) * std::pow(d, -0.54) * std::pow(b, 0.5));
        }
      }
    }
    const auto fitted = fitted_exponents(xs, ys);
    REQUIRE(fitted);
    CHECK((*fitted)[0] == doctest::Approx(0.59));
    CHECK((*fitted)[1] == doctest::Approx(-0.54));
    CHECK((*fitted)[2] == doctest::Approx(0.5));
  }

  TEST_CASE("points that do not vary in a factor determine no exponent") {
    CHECK(!fitted_exponents({{1, 2}, {1, 3}}, {1, 2}));
    CHECK(!fitted_exponents({}, {}));
  }

  TEST_CASE("a straight line through points, and how straight they lie") {
    const StraightLine exact = straight_line({1, 2, 4}, {5, 7, 11});
    CHECK(exact.slope == doctest::Approx(2));
    CHECK(exact.intercept == doctest::Approx(3));
    CHECK(exact.r2 == doctest::Approx(1));
    const StraightLine bent = straight_line({0, 1, 2}, {0, 3, 0});
    CHECK(bent.slope == doctest::Approx(0));
    CHECK(bent.r2 == doctest::Approx(0));
  }
}
