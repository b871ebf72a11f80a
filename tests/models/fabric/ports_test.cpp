#include "models/fabric/ports.h"

#include <map>

#include <doctest/doctest.h>

#include "models/fabric/descriptor.h"
#include "models/fabric/scheduled_compiler.h"
#include "sim/base/errors.h"
#include "sim/program/fingerprint.h"
#include "tests/models/fabric/bench.h"

namespace tessera::fabric {
namespace {

using namespace patterns;

FabricConfig rates(std::uint32_t send, std::uint32_t receive, bool pair_sharing = false) {
  FabricConfig config;
  config.send_bytes_per_cycle = send;
  config.receive_bytes_per_cycle = receive;
  config.pair_sharing = pair_sharing;
  return config;
}

std::uint64_t makespan(const FabricConfig& config, const Copies& copies) {
  const program::CompiledExchange exchange = make_exchange_compiler(config)->compile(0, copies);
  verify_ports(exchange.lists, config);
  CHECK(exchange.makespan >= exchange.bound);
  return exchange.makespan.count();
}

/// `senders` tiles send `bytes` each to tile 0.
Copies gather(std::uint32_t senders, std::uint32_t bytes) {
  Layout layout(senders + 1);
  Copies copies;
  for (std::uint32_t s = 1; s <= senders; ++s) copies.push_back(multicast(layout, s, bytes, {0}));
  return copies;
}

/// Tile 0 sends separate `bytes` to each of `receivers` tiles.
Copies scatter(std::uint32_t receivers, std::uint32_t bytes) {
  Layout layout(receivers + 1);
  Copies copies;
  for (std::uint32_t r = 1; r <= receivers; ++r) copies.push_back(multicast(layout, 0, bytes, {r}));
  return copies;
}

/// The most bytes that any tile sends and receives in a cycle, counted cycle by cycle at every port
/// of tiles without sharing.
struct Peak {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
};

Peak count_every_cycle(const FabricConfig& config, const program::CompiledExchange& exchange) {
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> out, in;  // bytes / period
  const Floorplan plan{.columns = config.columns};
  std::uint64_t period = 1;
  for (const program::DescriptorList& list : exchange.lists) {
    const ListView view(list.tile, list.bytes, Address(0));
    const std::uint32_t tile = index(list.tile);
    const Ports ports(config, sharing_of(view.header()));
    period = ports.period;
    const auto count = [&](auto& map, std::uint64_t start, std::uint64_t bytes) {
      for (std::uint64_t left = bytes * period, c = start; left > 0; ++c) {
        const std::uint64_t now = std::min<std::uint64_t>(ports.bytes, left);
        map[{tile, c}] += now;
        left -= now;
      }
    };
    for (std::uint32_t i = 0; i < view.header().sends; ++i)
      count(out, view.send(i).start, view.send(i).length);
    for (std::uint32_t i = 0; i < view.header().receives; ++i) {
      const ReceiveDescriptor r = view.receive(i);
      count(in, r.start + std::uint64_t{config.cycles_per_hop} * plan.hops(source_of(r), tile),
            r.length);
    }
  }
  Peak peak;
  for (const auto& [key, bytes] : out) peak.sent = std::max(peak.sent, ceil_div(bytes, period));
  for (const auto& [key, bytes] : in)
    peak.received = std::max(peak.received, ceil_div(bytes, period));
  return peak;
}

}  // namespace

TEST_SUITE("theory") {
  TEST_CASE("four senders of 4 bytes a cycle fill one receiver of 16 in the time of one") {
    for (const std::uint32_t bytes : {4U, 400U, 4096U}) {
      CHECK(makespan(rates(4, 16), gather(4, bytes)) == bytes / 4);
      CHECK(makespan(rates(4, 16), gather(8, bytes)) == 2 * bytes / 4);
      CHECK(makespan(rates(4, 4), gather(4, bytes)) == 4 * bytes / 4);
      CHECK(makespan(rates(4, 16), gather(1, bytes)) == bytes / 4);
    }
  }

  TEST_CASE("one sender of 16 bytes a cycle feeds four receivers of 4 in the time of one") {
    CHECK(makespan(rates(16, 4), scatter(4, 400)) == 100);
    CHECK(makespan(rates(16, 4), scatter(8, 400)) == 200);
    CHECK(makespan(rates(4, 4), scatter(4, 400)) == 400);
    Layout layout(9);
    const Copies once = {multicast(layout, 0, 400, {1, 2, 3, 4, 5, 6, 7, 8})};
    CHECK(makespan(rates(16, 4), once) == 100);  // to all receivers in the time of one
  }

  TEST_CASE("rates that do not divide each other are held exactly") {
    CHECK(makespan(rates(4, 6), gather(3, 1200)) == 3 * 1200 / 6);
    CHECK(makespan(rates(6, 4), scatter(3, 1200)) == 3 * 1200 / 6);
    CHECK(makespan(rates(3, 5), gather(5, 600)) == 5 * 600 / 5);
    CHECK(makespan(rates(4, 6), gather(1, 1200)) == 1200 / 4);
    CHECK(makespan(rates(6, 4), scatter(1, 1200)) == 1200 / 4);
  }

  TEST_CASE("a port that is a little faster than the others is filled by two streams") {
    CHECK(makespan(rates(16, 16), gather(8, 1088)) == 8 * 1088 / 16);
    CHECK(makespan(rates(16, 17), gather(8, 1088)) == 8 * 1088 / 17);
    CHECK(makespan(rates(17, 16), scatter(64, 1088)) == 64 * 1088 / 17);
    CHECK(makespan(rates(16, 9), scatter(16, 144)) == 16 * 144 / 16);
  }

  TEST_CASE("a pair that takes the same data has both tiles' lanes") {
    Layout layout(10);
    Copies copies;
    for (std::uint32_t s = 2; s < 10; ++s) copies.push_back(multicast(layout, s, 400, {0, 1}));
    CHECK(makespan(rates(4, 8, true), copies) == 8 * 400 / 16);
    CHECK(makespan(rates(4, 8, false), copies) == 8 * 400 / 8);
  }

  TEST_CASE("no port moves more in a cycle than its rate, all bytes arrive, whatever the rates") {
    std::uint64_t seed = 0;
    for (const auto& [send, receive] : {std::pair{4U, 4U},
                                        {4U, 16U},
                                        {16U, 4U},
                                        {4U, 6U},
                                        {6U, 4U},
                                        {1U, 3U},
                                        {8U, 8U},
                                        {5U, 7U},
                                        {16U, 17U},
                                        {64U, 9U}}) {
      for (const std::uint32_t hop : {0U, 1U, 7U}) {
        FabricConfig config = rates(send, receive);
        config.cycles_per_hop = hop;
        config.columns = 4;
        const Copies copies = random_multicasts(26, 5, {1, 9}, {1, 30}, ++seed);
        Bench bench(config, 26, 1 << 14);
        const program::CompiledExchange exchange = bench.load(copies);
        CAPTURE(seed);
        verify_ports(exchange.lists, config);
        const Peak peak = count_every_cycle(config, exchange);
        CHECK(peak.sent <= send);
        CHECK(peak.received <= receive);
        CHECK(exchange.makespan >= exchange.bound);
        const auto ways = static_cast<double>(Ports(config).longest_way(26));
        CHECK(static_cast<double>(exchange.makespan.count()) <=
              1.3 * static_cast<double>(exchange.bound.count()) + ways);
        const auto expected = bench.expected(copies);
        const Moved outcome = bench.run(2);
        CHECK(bench.sram() == expected);
        Cycle last;
        for (const Delivery& tile : outcome.tiles) last = std::max(last, tile.done);
        CHECK(last == exchange.makespan + Cycle(100));
        CHECK(make_exchange_compiler(config)->cycles(copies) == last);
      }
    }
  }

  TEST_CASE("lists are as long as is said without them, and no longer than they can be") {
    for (const auto& [send, receive] :
         {std::pair{4U, 4U}, {16U, 4U}, {4U, 16U}, {12U, 8U}, {9U, 16U}})
      for (const bool pair_sharing : {false, true})
        for (const Copies& copies :
             {random_multicasts(24, 6, {1, 9}, {1, 300}, 5), gemm_grid(4, 3, 2, 4800, 960),
              all_to_all(16, 52), gather(9, 12'000), scatter(7, 40)}) {
          const FabricConfig config = rates(send, receive, pair_sharing);
          const auto compiler = make_exchange_compiler(config);
          const program::CompiledExchange made = compiler->compile(0, copies);
          const program::ExchangeUsage usage = compiler->resource_usage(0, copies);
          const auto longest = longest_lists(config, copies);
          CHECK(usage.makespan == made.makespan);
          CHECK(usage.bound == made.bound);
          REQUIRE(usage.lists.size() == made.lists.size());
          REQUIRE(longest.size() == made.lists.size());
          for (std::size_t i = 0; i < made.lists.size(); ++i) {
            CHECK(usage.lists[i].tile == made.lists[i].tile);
            CHECK(usage.lists[i].bytes == made.lists[i].bytes.size());
            CHECK(longest[i].tile == made.lists[i].tile);
            CHECK(longest[i].bytes >= made.lists[i].bytes.size());
          }
        }
  }

  TEST_CASE("an exchange is known again wherever a tile's buffers lie, and no other") {
    const Copies copies = random_multicasts(24, 6, {1, 9}, {1, 300}, 5);
    Copies moved = copies;
    for (program::PlacedCopy& copy : moved) {
      const auto move = [](program::Port& port) {
        port.address = port.address + Address(64 + 8 * index(port.tile));
      };
      move(copy.source);
      for (program::Port& port : copy.destinations) move(port);
    }
    CHECK(program::fingerprint(moved) == program::fingerprint(copies));
    for (std::uint32_t what = 0; what < 4; ++what) {
      Copies other = copies;
      program::PlacedCopy& copy = other[17];
      if (what == 0) copy.bytes += 4;
      if (what == 1) copy.source.tile = TileId{(index(copy.source.tile) + 1) % 24};
      if (what == 2) copy.destinations.pop_back();
      if (what == 3) copy.source.address = copy.source.address + Address(4);
      CHECK(program::fingerprint(other) != program::fingerprint(copies));
    }
  }

  TEST_CASE("a stream too many on a port is found") {
    const Copies copies = gather(3, 8);
    FabricConfig config = rates(4, 8);
    config.kind = "ideal";  // starts all copies at once
    const auto exchange = make_exchange_compiler(config)->compile(0, copies);
    CHECK_THROWS_AS(verify_ports(exchange.lists, config), Defect);
    verify_ports(exchange.lists, rates(4, 12));
  }

  TEST_CASE("loads alone predict regular exchanges") {
    const auto near = [](std::uint64_t predicted, std::uint64_t found) {
      CHECK(static_cast<double>(predicted) ==
            doctest::Approx(static_cast<double>(found)).epsilon(0.1));
    };
    for (const auto& [send, receive] :
         {std::pair{4U, 4U}, {4U, 16U}, {16U, 4U}, {8U, 12U}, {7U, 4U}}) {
      const FabricConfig config = rates(send, receive, true);
      const auto compiler = make_exchange_compiler(config);
      const auto predicted = [&](const ExchangeLoad& load) {
        return estimate(config, load).count();
      };
      // Each tile of 8 x 16 receives a row's pieces, shared by pairs, and a column's.
      const Copies grid = gemm_grid(8, 16, 1, 64000, 24000);
      near(predicted({4000 + 3000, 24000, 64000, 128}), compiler->cycles(grid).count());
      const Copies all = all_to_all(40, 256);
      near(predicted({39UL * 256, 39UL * 256, 0, 40}), compiler->cycles(all).count());
    }
  }
}

TEST_SUITE("timing") {
  TEST_CASE("a delivery comes later by the columns and rows to its source") {
    FabricConfig config = rates(4, 4);
    config.cycles_per_hop = 3;
    config.columns = 4;
    const auto done = [&](std::uint32_t from, std::uint32_t to) {
      Layout layout(40);
      Bench bench(config, 40, 64);
      bench.load({multicast(layout, from, 4, {to})});
      const Moved outcome = bench.run();
      for (std::size_t i = 0; i < outcome.tiles.size(); ++i) {
        const bool sends = bench.participants()[i].tile == TileId(from);
        if (sends) CHECK(outcome.tiles[i].done.count() == 101);
        if (!sends) return outcome.tiles[i].done.count();
      }
      return std::uint64_t{0};
    };
    CHECK(done(0, 1) == 101);           // the other tile of the pair
    CHECK(done(0, 7) == 101 + 3 * 3);   // along the row
    CHECK(done(0, 8) == 101 + 3);       // the next row begins
    CHECK(done(39, 0) == 101 + 3 * 7);  // the opposite corner of 4 x 5 pairs
    CHECK(done(7, 8) == 101 + 3 * 4);
  }
}

}  // namespace tessera::fabric
