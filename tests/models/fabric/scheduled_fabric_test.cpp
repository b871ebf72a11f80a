#include "models/fabric/scheduled_fabric.h"

#include <doctest/doctest.h>

#include "models/fabric/descriptor.h"
#include "sim/base/errors.h"
#include "tests/models/fabric/bench.h"
#include "tests/refusal.h"

namespace tessera::fabric {
namespace {

using namespace patterns;

/// Changes one word of a tile's list and returns the fabric's error message.
std::string spoil(std::uint32_t tile, std::uint32_t word, std::uint32_t value) {
  Bench bench({}, 4, 256);
  bench.load({{at(0, 0), 16, {at(2, 64)}}, {at(1, 0), 32, {at(2, 128)}}});
  std::memcpy(bench.sram()[tile].data() + bench.list_address() + 4 * std::size_t{word}, &value,
              sizeof value);
  return test::refusal([&] { return bench.run(); });
}

}  // namespace

TEST_SUITE("timing") {
  TEST_CASE("a copy between two tiles takes the fixed cost and a cycle every four bytes") {
    for (const std::uint32_t bytes : {1U, 4U, 5U, 4096U}) {
      Bench bench({}, 2, 8192);
      bench.load({{at(0, 0), bytes, {at(1, 4096)}}});
      const Moved outcome = bench.run();
      CHECK(outcome.tiles[0].done.count() == 100 + (bytes + 3) / 4);
      CHECK(outcome.tiles[1].done.count() == 100 + (bytes + 3) / 4);
    }
  }

  TEST_CASE("sources are read before any destination is written") {
    // A ring in place, a swap, a tile's copy to itself that overlaps its own source.
    const Copies copies = {{at(0, 0), 64, {at(1, 0)}},   {at(1, 0), 64, {at(2, 0)}},
                           {at(2, 0), 64, {at(0, 0)}},   {at(3, 0), 32, {at(3, 16)}},
                           {at(3, 64), 32, {at(4, 64)}}, {at(4, 64), 32, {at(3, 64)}}};
    Bench bench({}, 5, 128);
    bench.load(copies);
    const auto expected = bench.expected(copies);
    bench.run();
    CHECK(bench.sram() == expected);
  }

  TEST_CASE("a multicast counts its further receivers") {
    Bench bench({}, 8, 256);
    bench.load({{at(0, 0), 100, {at(2, 0), at(4, 0), at(6, 0)}}, {at(1, 0), 50, {at(2, 128)}}});
    const Moved outcome = bench.run();
    CHECK(outcome.delivered.count() == 350);
    CHECK(outcome.multicast.count() == 200);
    CHECK(outcome.tiles[0].sent.count() == 100);
    CHECK(outcome.tiles[2].received.count() == 150);
  }

  TEST_CASE("spoiled descriptor lists fault and name tile and descriptor") {
    // Words of tile 2: header 0-3, then receives {start, length, address, source} at 4 and 8.
    CHECK(test::holds(spoil(2, 7, 3), "tile 2: receive 0"));
    CHECK(test::holds(spoil(2, 7, 3), "tile 3 sends nothing at that time"));
    CHECK(test::holds(spoil(2, 8, 999), "tile 2: receive 1 (start 999"));
    CHECK(test::holds(spoil(2, 5, 12), "then"));
    CHECK(test::holds(spoil(2, 6, 0xfffffff0U), "outside SRAM"));
    CHECK(test::holds(spoil(2, 6, 252), "overwrites the tile's descriptor list"));
    CHECK(test::holds(spoil(0, 6, 0x7ffffff0U), "tile 0: send 0"));
    CHECK(test::holds(spoil(1, 2, 1000), "runs past"));
    CHECK(test::holds(spoil(1, 1, 3 | 1U << 22), "runs at another rate than tile 0's"));
    CHECK(test::holds(spoil(1, 1, 4), "joins 4 tiles, 3 started it"));
  }

  TEST_CASE("a list outside SRAM faults") {
    Bench bench({}, 2, 64);
    bench.load({{at(0, 0), 4, {at(1, 0)}}});
    bench.participants()[1].list = Address(0xfffffffcU);
    CHECK_THROWS_AS(bench.run(), UserError);
    bench.participants()[1].list = Address(66);
    CHECK_THROWS_AS(bench.run(), UserError);
  }
}

}  // namespace tessera::fabric
