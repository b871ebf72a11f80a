#include "models/tile/race_check.h"

#include <doctest/doctest.h>

#include "models/fabric/descriptor.h"
#include "tests/models/tile/lone_tile.h"
#include "tests/refusal.h"

using namespace tessera;

namespace {

/// Runs all workers twice with a join between; each loads and stores at `stride` times its number.
std::string fault_of(std::uint32_t load, std::uint32_t store, std::int32_t stride) {
  LoneTile tile(true);
  const std::uint32_t worker = tile.touching_worker(load, store, stride);
  tile.supervisor();
  tile.run(worker, kAll);
  tile.join();
  tile.run_to_end(worker, kAll);
  return tile.fault();
}

/// The list of an exchange that sends 16 bytes at 0x400 and receives 16 at 0x500.
void write_list(LoneTile& tile, std::uint32_t at) {
  tile.write(at, fabric::Header{.exchange = 0, .participants = 2, .sends = 1, .receives = 1});
  tile.write(at + 16, fabric::SendDescriptor{.start = 0, .length = 16, .address = 0x400});
  tile.write(at + 28,
             fabric::ReceiveDescriptor{.start = 0, .length = 16, .address = 0x500, .mux = 1});
}

/// A worker accesses memory during that exchange; `first`: it was launched before the exchange.
std::string fault_in_flight(std::uint32_t load, std::uint32_t store, bool first) {
  LoneTile tile(true);
  const std::uint32_t worker = tile.touching_worker(load, store, 0);
  tile.supervisor();
  if (first) tile.run(worker, 0);
  tile.code().load_immediate(LoneTile::Reg::t2, 0x600);
  tile.code().start_exchange(LoneTile::Reg::t2);
  if (!first) tile.run(worker, 0);
  tile.join();
  tile.code().wait_for_exchange(LoneTile::Reg::zero);
  tile.end();
  write_list(tile, 0x600);
  return tile.fault();
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("workers that share only what they read do not race") {
    CHECK(fault_of(0x400, 0, 0) == "");
    CHECK(fault_of(0x400, 0x500, 4) == "");
  }

  TEST_CASE("words that one worker writes may not be accessed by others before the join") {
    const std::string write = fault_of(0, 0x400, 0);
    test::check_holds(write,
                      {"tile 5, worker 1: data race at address 0x400: it wrote what worker 0 has "
                       "written",
                       "(touching)"});
    // With a stride of 4 each worker loads the word that its neighbour stores.
    CHECK(test::holds(fault_of(0x400, 0x404, 4), "it read what worker 0 has written"));
    CHECK(test::holds(fault_of(0x404, 0x400, 4), "it wrote what worker 0 has read"));
    CHECK(test::holds(fault_of(0x400, 0x404, -4), "it wrote what worker 0 has read"));
  }

  TEST_CASE("without the check nothing is recorded") {
    LoneTile tile;
    const std::uint32_t worker = tile.touching_worker(0, 0x400, 0);
    tile.supervisor();
    tile.run_to_end(worker, kAll);
    CHECK(tile.fault() == "");
  }

  TEST_CASE("an exchange in flight owns its destinations and keeps its sources") {
    for (const bool first : {true, false}) {
      CHECK(fault_in_flight(0x40c, 0x510, first) == "");
      CHECK(fault_in_flight(0x4fc, 0x3fc, first) == "");
      CHECK(test::holds(fault_in_flight(0, 0x40c, first),
                        "address 0x40c: it wrote what an exchange in flight sends"));
      CHECK(test::holds(fault_in_flight(0, 0x500, first), "it wrote where an exchange"));
      CHECK(test::holds(fault_in_flight(0x50c, 0, first), "it read where an exchange"));
    }
  }

  TEST_CASE("exchanges in flight together may share what they send alone") {
    constexpr std::uint32_t kSends = 0x400, kReceives = 0x500;  // of the first exchange
    const auto conflict = [&](std::uint32_t sends, std::uint32_t receives) {
      RaceCheck races(1);
      REQUIRE(!races.begin_transfer(Address(8), {{kSends, kSends + 16}},
                                    {{kReceives, kReceives + 16}}));
      std::string found =
          races.begin_transfer(Address(16), {{sends, sends + 16}}, {{receives, receives + 16}})
              .value_or("");
      races.end_transfer(Address(8));
      return found;
    };
    CHECK(conflict(kSends, 0x600).empty());
    CHECK(test::holds(conflict(0x600, kSends + 12), "0x40c: an exchange delivers what another"));
    CHECK(test::holds(conflict(0x600, kReceives), "delivers where another in flight does"));
    CHECK(test::holds(conflict(kReceives, 0x600), "sends what another in flight delivers"));
  }

  TEST_CASE("the supervisor's own accesses race with an exchange in flight") {
    for (const std::int32_t address : {0x400, 0x500}) {
      LoneTile tile(true);
      tile.supervisor();
      tile.code().load_immediate(LoneTile::Reg::t2, 0x600);
      tile.code().start_exchange(LoneTile::Reg::t2);
      tile.code().emit({.mnemonic = isa::Mnemonic::lw, .rd = 6, .imm = address});
      tile.code().wait_for_exchange(LoneTile::Reg::zero);
      tile.end();
      write_list(tile, 0x600);
      const bool races = test::holds(tile.fault(), "supervisor: data race");
      CHECK(races == (address == 0x500));
    }
  }
}
