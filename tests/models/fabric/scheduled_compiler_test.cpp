#include "models/fabric/scheduled_compiler.h"

#include <algorithm>
#include <random>

#include <doctest/doctest.h>

#include "tests/models/fabric/bench.h"

namespace tessera::fabric {
namespace {

using namespace patterns;

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  std::uint32_t from(std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random_() % (high - low + 1));
  }

  FabricConfig fabric() {
    FabricConfig config;
    config.send_bytes_per_cycle = from(1, 64);
    config.receive_bytes_per_cycle = from(1, 64);
    config.pair_sharing = from(0, 1) == 0;
    config.cycles_per_hop = from(0, 2) == 0 ? from(1, 9) : 0;
    config.columns = from(1, 6);
    return config;
  }

  Copies copies() {
    const std::uint32_t tiles = from(2, 24);
    const std::uint32_t kind = from(0, 4);
    if (kind == 0)
      return random_multicasts(tiles, from(1, 8), {1, from(1, std::min(tiles, 12U))},
                               {1, from(1, 99)}, random_());
    if (kind == 1)
      return gemm_grid(from(1, 6), from(1, 4), from(1, 3), 16 * from(1, 99), 16 * from(1, 99));
    if (kind == 2) return all_to_all(tiles, 4 * from(1, 60));
    return kind == 3 ? between(tiles, tiles, from(1, tiles))
                     : between(tiles, from(1, tiles), tiles);
  }

 private:
  /// Random streams from the first `senders` tiles to the first `receivers`.
  Copies between(std::uint32_t tiles, std::uint32_t senders, std::uint32_t receivers) {
    Layout layout(tiles);
    Copies copies;
    for (std::uint32_t i = 0; i < 3 * tiles; ++i)
      copies.push_back(
          multicast(layout, from(0, senders - 1), 4 * from(1, 99), {from(0, receivers - 1)}));
    return copies;
  }

  std::mt19937_64 random_;
};

std::uint32_t data_bytes(const Copies& copies) {
  std::uint32_t most = 0;
  const auto reach = [&](const program::Port& port, std::uint32_t bytes) {
    most = std::max(most, port.address.count() + bytes);
  };
  for (const program::PlacedCopy& copy : copies) {
    reach(copy.source, copy.bytes);
    for (const program::Port& port : copy.destinations) reach(port, copy.bytes);
  }
  return most;
}

}  // namespace

TEST_SUITE("theory") {
  TEST_CASE("no two rates need longer lists or more time than the smaller of them both ways") {
    std::uint32_t sooner = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      CAPTURE(seed);
      Draw draw(seed);
      const FabricConfig config = draw.fabric();
      const FabricConfig slower = at_slower_rate(config);
      const Copies copies = draw.copies();
      Bench bench(config, 72, data_bytes(copies)), slow_bench(slower, 72, data_bytes(copies));
      const auto exchange = bench.load(copies), slow = slow_bench.load(copies);
      verify_ports(exchange.lists, config);
      CHECK(exchange.makespan >= exchange.bound);
      CHECK(exchange.makespan <= slow.makespan);
      sooner += exchange.makespan < slow.makespan ? 1 : 0;
      REQUIRE(exchange.lists.size() == slow.lists.size());
      for (std::size_t i = 0; i < slow.lists.size(); ++i)
        CHECK(exchange.lists[i].bytes.size() <= slow.lists[i].bytes.size());
      const auto expected = bench.expected(copies);
      const Moved outcome = bench.run(), slow_outcome = slow_bench.run();
      CHECK(bench.sram() == expected);
      const Cycle gain = slow.makespan - exchange.makespan;
      for (std::size_t i = 0; i < outcome.tiles.size(); ++i)
        if (outcome.tiles[i].sent == Bytes(0))
          CHECK(outcome.tiles[i].done <= slow_outcome.tiles[i].done + gain);
    }
    CHECK(sooner > 70);
  }

  TEST_CASE("the shortest lists move the same bytes, and say each stream once") {
    std::uint32_t shorter = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      CAPTURE(seed);
      Draw draw(seed);
      const FabricConfig config = draw.fabric();
      const Copies copies = draw.copies();
      const ScheduledCompiler fastest(config);
      const std::unique_ptr<program::ExchangeSizer> shortest = fastest.shortest();
      REQUIRE(shortest);
      CHECK(!shortest->shortest());
      Bench bench(config, 72, data_bytes(copies));
      const auto exchange =
          bench.load(copies, dynamic_cast<const program::ExchangeCompiler&>(*shortest));
      verify_ports(exchange.lists, config);
      const program::ExchangeUsage usage = fastest.resource_usage(7, copies);
      CHECK(exchange.makespan >= usage.bound);
      CHECK(shortest->resource_usage(7, copies).makespan == exchange.makespan);
      REQUIRE(exchange.lists.size() == usage.lists.size());
      for (std::size_t i = 0; i < usage.lists.size(); ++i) {
        CHECK(exchange.lists[i].bytes.size() <= usage.lists[i].bytes);
        shorter += exchange.lists[i].bytes.size() < usage.lists[i].bytes ? 1 : 0;
      }
      const auto expected = bench.expected(copies);
      bench.run();
      CHECK(bench.sram() == expected);
    }
    CHECK(shorter > 400);
  }

  TEST_CASE("the usage of an exchange states when each tile has its part") {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      CAPTURE(seed);
      Draw draw(seed);
      const FabricConfig config = draw.fabric();
      const Copies copies = draw.copies();
      const auto ends = ScheduledCompiler(config).resource_usage(7, copies).ends;
      REQUIRE(ends);
      Bench bench(config, 72, data_bytes(copies));
      bench.load(copies);
      const Moved moved = bench.run();
      for (std::size_t i = 0; i < moved.participants.size(); ++i) {
        const std::uint64_t done = (moved.tiles[i].done - moved.begin).count();
        CHECK(ends->at(index(moved.participants[i].tile)) + config.fixed_cycles == done);
      }
    }
  }

  TEST_CASE("a kept schedule makes the lists of a new one, wherever the copies lie") {
    KeptSchedules kept;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      CAPTURE(seed);
      Draw draw(seed);
      const FabricConfig config = draw.fabric();
      Copies copies = draw.copies();
      const program::ExchangeUsage usage =
          ScheduledCompiler(config, {}, &kept).resource_usage(0, copies);
      const auto move = [](program::Port& port) {
        port.address = port.address + Address(8 * index(port.tile));
      };
      for (program::PlacedCopy& copy : copies) {
        move(copy.source);
        std::ranges::for_each(copy.destinations, move);
      }
      const auto again = ScheduledCompiler(config, {}, &kept).compile(3, copies);
      const auto made = ScheduledCompiler(config).compile(3, copies);
      CHECK(again.makespan == made.makespan);
      CHECK(again.bound == made.bound);
      CHECK(usage.makespan == made.makespan);
      REQUIRE(again.lists.size() == made.lists.size());
      for (std::size_t i = 0; i < made.lists.size(); ++i)
        CHECK(again.lists[i].bytes == made.lists[i].bytes);
      CHECK(again.ports.sent == made.ports.sent);
      CHECK(again.ports.received == made.ports.received);
    }
  }
}

}  // namespace tessera::fabric
