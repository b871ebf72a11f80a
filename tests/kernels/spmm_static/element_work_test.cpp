#include <doctest/doctest.h>

#include "kernels/spmm_static/partition.h"

using namespace tessera::spmm_static;

TEST_SUITE("unit") {
  TEST_CASE("workers with slots of their own take as long as the longest") {
    CHECK(together({{60, 60}, {10, 10}, {0, 0}, {30, 30}}) == 60);
    CHECK(together({}) == 0);
  }

  TEST_CASE("a full pipeline takes the mean of its workers, no less than the longest alone") {
    CHECK(together({{40, 10}, {40, 10}, {40, 10}, {40, 10}}) == 40);
    CHECK(together({{40, 10}, {20, 5}, {20, 5}, {0, 0}}) == 20);  // (40 + 20 + 20 + 0) / 4
    CHECK(together({{40, 10}, {0, 0}, {0, 0}, {0, 0}}) == 10);
    CHECK(together({{40, 30}, {20, 15}, {20, 15}, {20, 15}}) == 35);  // 20 together, 15 alone
  }
}
