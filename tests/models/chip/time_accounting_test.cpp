#include "models/chip/time_accounting.h"

#include <doctest/doctest.h>

using namespace tessera;

namespace {

Path way(const Arrival& arrival) {
  return {.exchange = arrival.span.exchange, .ports = Cycle(0), .wait = arrival.span.wait};
}

ArrivalGroup alone(const TimeAccounting& accounting, TileId tile, const Arrival& arrival) {
  ArrivalGroup group;
  group.add(tile, arrival, way(arrival), accounting.start());
  return group;
}

Arrival arrival(std::uint64_t at, std::uint64_t exchange, std::uint64_t wait, std::uint32_t step) {
  Arrival result;
  result.at = Cycle(at);
  result.step = step;
  result.span.exchange = Cycle(exchange);
  result.span.wait = Cycle(wait);
  result.span.instructions = 10;
  return result;
}

program::StepInfo step(bool measured) {
  program::StepInfo info;
  info.measured = measured;
  return info;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("time is that of the last-arriving tile and sums to the superstep's cycles") {
    const std::vector<program::StepInfo> steps{step(true)};
    TimeAccounting accounting(steps, 0);
    accounting.arrive(alone(accounting, TileId(0), arrival(100, 20, 5, 0)));
    accounting.arrive(alone(accounting, TileId(1), arrival(400, 100, 50, 0)));
    accounting.arrive(alone(accounting, TileId(2), arrival(300, 0, 0, 0)));
    CHECK(accounting.close(Cycle(490)));
    const SuperstepRecord& record = accounting.closed();
    CHECK(record.last_tile == TileId(1));
    CHECK(record.time.compute == Cycle(250));
    CHECK(record.time.exchange == Cycle(100));
    CHECK(record.time.wait == Cycle(50));
    CHECK(record.time.sync == Cycle(90));
    CHECK(record.time.total() == Cycle(490));
    CHECK(record.least_compute == Cycle(75));
    CHECK(record.most_compute == Cycle(300));
    CHECK(record.sum_compute == 75 + 250 + 300);
    CHECK(record.instructions == 30);
  }

  TEST_CASE("only measured supersteps count, and the next begins at the release") {
    const std::vector<program::StepInfo> steps{step(false), step(true)};
    TimeAccounting accounting(steps, 0);
    accounting.arrive(alone(accounting, TileId(0), arrival(50, 0, 0, program::kNoStep)));
    CHECK_FALSE(accounting.close(Cycle(60)));
    accounting.arrive(alone(accounting, TileId(0), arrival(70, 0, 0, 0)));
    CHECK_FALSE(accounting.close(Cycle(80)));
    accounting.deliver(3, Bytes(64), Bytes(32));
    accounting.arrive(alone(accounting, TileId(0), arrival(95, 0, 0, 1)));
    CHECK(accounting.close(Cycle(105)));
    CHECK(accounting.supersteps() == 3);
    CHECK(accounting.closed().start == Cycle(80));
    CHECK(accounting.closed().exchanged == Bytes(64));
    CHECK(accounting.time().total() == Cycle(25));
    CHECK(accounting.multicast() == Bytes(32));
    CHECK(accounting.closed().exchanges == std::vector<std::uint32_t>{3});
  }

  TEST_CASE("tiles told as one group count as tiles told one by one, in any order") {
    const std::vector<program::StepInfo> steps{step(true), step(true)};
    const Arrival arrivals[] = {arrival(100, 20, 5, 0), arrival(400, 100, 50, program::kNoStep),
                                arrival(400, 0, 1, 1), arrival(300, 0, 0, 0)};
    TimeAccounting one_by_one(steps, 0);
    for (std::uint32_t i = 0; i < 4; ++i)
      one_by_one.arrive(alone(one_by_one, TileId(i), arrivals[i]));
    TimeAccounting grouped(steps, 0);
    ArrivalGroup odd;
    ArrivalGroup even;
    for (const std::uint32_t i : {3U, 1U})
      odd.add(TileId(i), arrivals[i], way(arrivals[i]), grouped.start());
    for (const std::uint32_t i : {2U, 0U})
      even.add(TileId(i), arrivals[i], way(arrivals[i]), grouped.start());
    grouped.arrive(even);
    grouped.arrive(odd);
    REQUIRE(one_by_one.close(Cycle(410)));
    REQUIRE(grouped.close(Cycle(410)));
    const SuperstepRecord& expected = one_by_one.closed();
    const SuperstepRecord& found = grouped.closed();
    CHECK(found.last_tile == TileId(1));
    CHECK(found.last_tile == expected.last_tile);
    CHECK(found.program_step == expected.program_step);
    CHECK(found.time.compute == expected.time.compute);
    CHECK(found.time.exchange == expected.time.exchange);
    CHECK(found.time.wait == expected.time.wait);
    CHECK(found.least_compute == expected.least_compute);
    CHECK(found.most_compute == expected.most_compute);
    CHECK(found.sum_compute == expected.sum_compute);
    CHECK(found.instructions == expected.instructions);
  }
}
