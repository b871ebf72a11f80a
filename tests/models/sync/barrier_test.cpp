#include "models/sync/barrier.h"

#include <doctest/doctest.h>

using namespace tessera;

TEST_SUITE("timing") {
  TEST_CASE("a zone is blocked until its last tile arrives and released its latency later") {
    Barrier barrier({.members = 3, .latency = Cycle(90)});
    CHECK_FALSE(barrier.arrive(TileId(0), Cycle(10)));
    CHECK_FALSE(barrier.arrive(TileId(1), Cycle(500)));
    CHECK(barrier.arrived() == 2);
    const auto release = barrier.arrive(TileId(2), Cycle(20));
    REQUIRE(release);
    CHECK(release->at == Cycle(590));
    CHECK(release->last == TileId(1));
    CHECK(release->last_arrival == Cycle(500));
  }

  TEST_CASE("the order in which arrivals are told changes nothing") {
    Barrier barrier({.members = 3, .latency = Cycle(1)});
    CHECK_FALSE(barrier.arrive(TileId(2), Cycle(7)));
    CHECK_FALSE(barrier.arrive(TileId(1), Cycle(7)));
    const auto release = barrier.arrive(TileId(0), Cycle(3));
    REQUIRE(release);
    CHECK(release->at == Cycle(8));
    CHECK(release->last == TileId(1));
  }

  TEST_CASE("a zone of one tile is released at once after its latency") {
    Barrier barrier({.members = 1, .latency = Cycle(5)});
    CHECK(barrier.arrive(TileId(9), Cycle(100))->at == Cycle(105));
    CHECK(barrier.arrive(TileId(9), Cycle(105))->at == Cycle(110));
  }

  TEST_CASE("rounds do not mix and the time waited adds up") {
    Barrier barrier({.members = 2, .latency = Cycle(10)});
    CHECK_FALSE(barrier.arrive(TileId(0), Cycle(1000)));
    CHECK(barrier.arrive(TileId(1), Cycle(1004))->at == Cycle(1014));
    CHECK_FALSE(barrier.arrive(TileId(1), Cycle(1020)));
    CHECK(barrier.arrive(TileId(0), Cycle(1020))->at == Cycle(1030));
    CHECK(barrier.statistics().releases == 2);
    CHECK(barrier.statistics().waited == Cycle(14 + 10 + 10 + 10));
  }
}
