#include "models/chip/ledger.h"

#include <doctest/doctest.h>

using namespace tessera;

namespace {

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
    Ledger ledger(steps);
    ledger.arrive(TileId(0), arrival(100, 20, 5, 0));
    ledger.arrive(TileId(1), arrival(400, 100, 50, 0));
    ledger.arrive(TileId(2), arrival(300, 0, 0, 0));
    CHECK(ledger.close(Cycle(490)));
    const SuperstepRecord& record = ledger.records().at(0);
    CHECK(record.last_tile == TileId(1));
    CHECK(record.time.compute == Cycle(250));
    CHECK(record.time.exchange == Cycle(100));
    CHECK(record.time.wait == Cycle(50));
    CHECK(record.time.sync == Cycle(90));
    CHECK(record.time.total() == Cycle(490));
    CHECK(record.least_compute == Cycle(75));
    CHECK(record.sum_compute == 75 + 250 + 300);
    CHECK(record.instructions == 30);
  }

  TEST_CASE("only measured supersteps are kept, and the next begins at the release") {
    const std::vector<program::StepInfo> steps{step(false), step(true)};
    Ledger ledger(steps);
    ledger.arrive(TileId(0), arrival(50, 0, 0, program::kNoStep));
    CHECK_FALSE(ledger.close(Cycle(60)));
    ledger.arrive(TileId(0), arrival(70, 0, 0, 0));
    CHECK_FALSE(ledger.close(Cycle(80)));
    ledger.deliver(Bytes(64), Bytes(32));
    ledger.arrive(TileId(0), arrival(95, 0, 0, 1));
    CHECK(ledger.close(Cycle(105)));
    const RunResult result = ledger.totals();
    CHECK(result.supersteps == 1);
    CHECK(result.steps.at(0).start == Cycle(80));
    CHECK(result.time.total() == Cycle(25));
    CHECK(result.exchange_bytes == Bytes(64));
    CHECK(result.multicast_bytes == Bytes(32));
  }

  TEST_CASE("a superstep belongs to the last step that any tile entered") {
    const std::vector<program::StepInfo> steps{step(false), step(true)};
    Ledger ledger(steps);
    ledger.arrive(TileId(0), arrival(5, 0, 0, program::kNoStep));
    ledger.arrive(TileId(1), arrival(9, 0, 0, 1));
    ledger.arrive(TileId(2), arrival(7, 0, 0, 0));
    CHECK(ledger.close(Cycle(9)));
    CHECK(ledger.records().at(0).program_step == 1);
    CHECK(ledger.records().at(0).time.sync == Cycle(0));
  }
}
