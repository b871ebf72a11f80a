#include "models/host/host_link.h"

#include <cstring>

#include <doctest/doctest.h>

#include "sim/base/errors.h"

using namespace tessera;

namespace {

using program::HostEntry;
using program::HostTransfer;
using program::TransferHeader;

constexpr std::uint32_t kLists = 1024;  ///< address of the first list
constexpr std::uint32_t kListBytes = 64;

/// Two tiles and a link with 10 cycles latency and one byte a cycle. Exchange 0 gives its turn's
/// number as four bytes to each tile, exchange 1 takes them back; the lists are consecutive.
struct Link {
  explicit Link(program::Turns turns = program::kEveryStart) : link(machine(), streams(), true) {
    for (std::uint32_t tile = 0; tile < 2; ++tile)
      for (std::uint32_t exchange = 0; exchange < 2; ++exchange)
        put(tile, exchange,
            {.exchange = exchange,
             .participants = exchange == 0 ? program::kFromHost : program::kToHost,
             .entries = 1,
             .turns = turns},
            {8 * tile, 4});
  }

  static MachineConfig machine() { return MachineConfig{.clock_ghz = 1, .host = {0, 0.01, 1}}; }
  static std::vector<program::HostStream> streams() {
    const auto number = [](std::span<std::byte> bytes, std::uint64_t turn) {
      const auto word = static_cast<std::uint32_t>(turn);
      std::memcpy(bytes.data(), &word, sizeof word);
    };
    const std::vector<TileId> tiles{TileId{0}, TileId{1}};
    return {
        {0, "given", {HostTransfer::Direction::read, {{{}, 4, number}, {{}, 4, number}}}, tiles},
        {1, "taken", {HostTransfer::Direction::write, {{{}, 4}, {{}, 4}}}, tiles}};
  }

  static Address list(std::uint32_t exchange) { return Address(kLists + exchange * kListBytes); }
  void put(std::uint32_t tile, std::uint32_t exchange, const TransferHeader& header,
           HostEntry entry) {
    std::byte* const at = sram[tile].data() + list(exchange).count();
    std::memcpy(at, &header, sizeof header);
    std::memcpy(at + sizeof header, &entry, sizeof entry);
  }
  void start(std::uint32_t tile, std::uint32_t exchange, std::uint64_t at) {
    link.submit({TileId{tile}, Cycle(at), sram[tile], list(exchange)});
  }
  std::uint32_t word(std::uint32_t tile) const {
    std::uint32_t word = 0;
    std::memcpy(&word, sram[tile].data() + 8 * std::size_t{tile}, sizeof word);
    return word;
  }

  std::vector<std::vector<std::byte>> sram{2, std::vector<std::byte>(2048)};
  HostLink link;
  HostThreads threads{1};
};

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a transfer begins when the last tile has started it, and ends for all at once") {
    Link made;
    made.start(0, 0, 5);
    CHECK_FALSE(made.link.next_event());
    CHECK(made.link.missing({TileId{0}, Link::list(0)}) ==
          "transfer given with the host, waiting for 1 of 2 tiles");
    made.start(1, 0, 100);
    CHECK(made.link.next_event() == Cycle(100));
    CHECK(made.link.advance(Cycle(117), made.threads).empty());
    const auto moved = made.link.advance(Cycle(118), made.threads);  // latency 10, then 8 bytes
    REQUIRE(moved.size() == 1);
    CHECK(moved[0].begin == Cycle(100));
    for (const fabric::Delivery& each : moved[0].tiles) {
      CHECK(each.done == Cycle(118));
      CHECK(each.received == Bytes(4));
    }
    CHECK(made.link.moved() == Bytes(8));
  }

  TEST_CASE("turns count on from run to run, and what moves nothing needs no link") {
    Link made({.count = 2, .skipped = 1});
    const auto turn = [&](std::uint64_t at) {
      made.start(0, 0, at);
      made.start(1, 0, at);
      return made.link.advance(Cycle(at + 50), made.threads).at(0).tiles[0].done.count() - at;
    };
    for (const std::uint64_t run : {0U, 1U}) {
      made.link.begin();
      CHECK(turn(1000 * run + 100) == 0);
      for (const std::uint32_t each : {0U, 1U}) {
        CHECK(turn(1000 * std::uint64_t{run} + 200 + 100 * std::uint64_t{each}) == 18);
        CHECK(made.word(1) == 2 * run + each);
      }
      CHECK(turn(1000 * run + 400) == 0);
    }
  }

  TEST_CASE("lists that are of no transfer, or of other pieces, are refused with their place") {
    Link made;
    const TransferHeader header{
        .exchange = 7, .participants = program::kFromHost, .entries = 1, .turns = {}};
    made.put(1, 0, header, {8, 4});
    CHECK_THROWS_WITH_AS(
        made.start(1, 0, 0),
        "tile 1: list of a transfer with the host at 0x400: exchange 7 is none with the host",
        UserError);
    made.put(1, 0, {.exchange = 0, .participants = program::kFromHost, .entries = 1, .turns = {}},
             {8, 8});
    CHECK_THROWS_WITH_AS(made.start(1, 0, 0),
                         "tile 1: list of a transfer with the host at 0x400: its entries are not "
                         "of the sizes of the host's pieces",
                         UserError);
  }
}
