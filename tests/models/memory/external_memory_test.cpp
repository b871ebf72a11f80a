#include "models/memory/external_memory.h"

#include <doctest/doctest.h>

#include "sim/base/errors.h"
#include "tests/models/memory/list_writer.h"
#include "tests/refusal.h"

namespace tessera {
namespace {

using fabric::Moved;
using sample::entry;
using sample::put_list;

constexpr std::uint32_t kSram = 65536;
constexpr std::uint32_t kList = 60000;

/// Tests of the single rules; random_memory_test compares bytes and times with a plain stepper. One
/// channel of 16 bytes a clock at the chip's clock; rows open in 30 clocks.
MachineConfig machine() {
  MachineConfig machine{.clock_ghz = 1.0, .has_external = true};
  ExternalConfig& external = machine.external;
  external.mib_per_channel = 16;
  external.setup_cycles = 5;
  external.way_cycles = 40;
  external.outstanding = 16;
  external.dram.rcd_clocks = 10;
  external.dram.rp_clocks = 10;
  external.dram.ras_clocks = 20;
  external.dram.cl_clocks = 20;
  external.dram.cwl_clocks = 12;
  return machine;
}

struct Outside {
  explicit Outside(const MachineConfig& config, std::uint32_t tiles = 2)
      : memory(config, tiles), sram(tiles, std::vector<std::byte>(kSram)) {
    memory.begin();
  }

  void list(std::uint32_t tile, const std::vector<program::OuterEntry>& entries,
            const program::TransferHeader& header = {.exchange = 3}) {
    put_list(sram[tile], kList, header, entries);
  }
  void start(std::uint32_t tile, std::uint64_t cycle) {
    memory.submit({TileId{tile}, Cycle(cycle), sram[tile], Address(kList)});
  }
  /// Runs until no transfer is in flight.
  std::vector<Moved> finish() {
    HostThreads threads(1);
    std::vector<Moved> all;
    while (const auto next = memory.next_event()) {
      ++advances;
      for (Moved& moved : memory.advance(*next, threads)) all.push_back(std::move(moved));
    }
    return all;
  }
  /// The outcome of a single transfer that starts at `cycle`.
  Moved moved(std::uint32_t tile, const program::OuterEntry& entry, std::uint64_t cycle = 0) {
    list(tile, {entry});
    start(tile, cycle);
    return finish().at(0);
  }
  std::string refusal() {
    return test::refusal([&] { return start(0, 0); });
  }

  ExternalMemory memory;
  std::vector<std::vector<std::byte>> sram;
  std::uint32_t advances = 0;
};

std::uint64_t done(const Moved& moved) { return moved.tiles.at(0).done.count(); }

/// The end of a single transfer that starts at cycle 0.
std::uint64_t lone(const MachineConfig& config, const program::OuterEntry& entry) {
  return done(Outside(config).moved(0, entry));
}

}  // namespace

TEST_SUITE("timing") {
  TEST_CASE("a lone read takes setup, ways, an activate, tCL and its bytes") {
    const Moved moved = Outside(machine()).moved(0, entry(0, 0, 512), 100);
    CHECK(moved.exchange == 3);
    CHECK(moved.ready.count() == 100);
    CHECK(moved.begin.count() == 105);
    // The channel's 16 bytes a clock are slower than the port's 32.
    CHECK(done(moved) == 105 + 40 + 10 + 20 + 512 / 16 + 40);
    CHECK(moved.tiles[0].received.count() == 512);
    CHECK(moved.tiles[0].sent.count() == 0);
  }

  TEST_CASE("a slower port determines the time") {
    MachineConfig config = machine();
    config.external.dma_bytes_per_cycle = 4;
    CHECK(lone(config, entry(0, 0, 1024)) == 5 + 40 + 10 + 20 + 40 + 1024 / 4);
  }

  TEST_CASE(
      "a lone write's bytes pass the port, then the way, then the channel, then the way back") {
    CHECK(lone(machine(), entry(0, 0, 512, true)) == 5 + 512 / 32 + 40 + 10 + 12 + 512 / 16 + 40);
  }

  TEST_CASE("a start that moves nothing is done at once, and counts") {
    Outside outside(machine());
    program::TransferHeader header{
        .exchange = 0, .entries = 0, .turns = {.count = 2, .skipped = 1}};
    outside.list(0, {entry(0, 0, 64)}, header);
    for (const auto& [start, moved] : {std::pair{10, 0}, {20, 64}, {500, 64}, {900, 0}}) {
      outside.start(0, static_cast<std::uint64_t>(start));
      const Moved one = outside.finish().at(0);
      CHECK(one.delivered.count() == static_cast<std::uint64_t>(moved));
      CHECK((done(one) == static_cast<std::uint64_t>(start)) == (moved == 0));
    }
    outside.memory.begin();
    outside.start(0, 1000);
    CHECK(done(outside.finish().at(0)) == 1000);
    outside.start(0, 1000);
    CHECK(done(outside.finish().at(0)) > 1000);
  }
}

TEST_SUITE("theory") {
  TEST_CASE("long reads run at the channel's rate, and at all channels' if they are interleaved") {
    for (const std::uint32_t channels : {1U, 2U, 4U}) {
      MachineConfig config = machine();
      config.external.channels = channels;
      config.external.interleave_bytes = 1024;
      config.external.dma_bytes_per_cycle = 64;
      config.external.outstanding = 64;
      Outside outside(config);
      const std::uint64_t cycles = done(outside.moved(0, entry(0, 0, 57344)));
      const std::uint64_t bound = 57344 / (16 * channels);
      CHECK(cycles >= bound + 100);
      CHECK(cycles <= bound + 160);
      // Its end is known well before: SystemC wakes a few times, not for each of 112 requests.
      CHECK(outside.advances <= 8);
    }
  }
}

TEST_SUITE("unit") {
  TEST_CASE("a side under way says how far it is") {
    Outside outside(machine());
    outside.list(0, {entry(0, 0, 4096)});
    outside.start(0, 0);
    HostThreads threads(1);
    outside.memory.advance(Cycle(5 + 40 + 30 + 64 + 40), threads);
    CHECK(outside.memory.missing({TileId{0}, Address(kList)}) ==
          "a transfer with external memory, of which 2 of 8 requests are done");
    CHECK(outside.memory.missing({TileId{1}, Address(kList)}).empty());
  }

  TEST_CASE("lists that reach outside SRAM or the memory are refused, naming tile and list") {
    Outside outside(machine());
    const auto refused = [&](const program::OuterEntry& wrong) {
      outside.list(0, {entry(0, 0, 8), wrong});
      outside.memory.begin();
      return outside.refusal();
    };
    const std::uint64_t capacity = 16U << 20U;
    const std::string place = "tile 0: list of a transfer with external memory at 0xea60";
    CHECK(refused(entry(capacity - 8, 0, 8)).empty());
    CHECK(refused(entry(capacity - 7, 0, 8)) ==
          place +
              ": entry 1: 1 rows of 8 bytes, 0 apart, at 0xfffff9 outside (digits of the turn: "
              "0, 0, 0) do not lie within the memory's 16777216 bytes");
    program::OuterEntry rows = entry(0, 0, 8);
    rows.rows = 3;
    rows.pitch = capacity / 2;
    CHECK(refused(rows).starts_with(place + ": entry 1: 3 rows of 8 bytes, 8388608 apart"));
    rows.pitch = UINT64_MAX;
    CHECK(refused(rows).starts_with(place));
    CHECK(refused(entry(UINT64_MAX - 3, 0, 8)).starts_with(place));
    CHECK(test::holds(refused(entry(0, kSram - 7, 8)), "do not lie within"));
    CHECK(refused(entry(0, kList - 8, 9)) == place + ": entry 1: overwrites the list");
    CHECK(refused(entry(0, kList - 8, 8)).empty());
    CHECK(refused(entry(0, kList, 8, true)).empty());
  }

  TEST_CASE("ranges outside the memory are refused") {
    Outside outside(machine());
    const std::uint64_t capacity = 16U << 20U;
    CHECK(outside.memory.bytes(TileId{0}, capacity, 0).empty());
    CHECK_THROWS_WITH_AS(
        (void)outside.memory.bytes(TileId{1}, capacity - 1, 2),
        "external memory of tile 1: 2 bytes at 0xffffff do not lie within its 16777216 bytes",
        UserError);
    CHECK_THROWS_AS((void)outside.memory.bytes(TileId{0}, UINT64_MAX, 2), UserError);
  }

  TEST_CASE("the message about memory that the host cannot map names the key of its size") {
    MachineConfig config = machine();
    config.external.channels = 1024;
    config.external.mib_per_channel = 1U << 20U;
    config.external.reach = ExternalReach::tile;
    try {
      const ExternalMemory memory(config, 65536);
      FAIL("the host maps 2^66 bytes");
    } catch (const Error& error) {
      CHECK(std::string(error.what()).starts_with("machine.external.mib_per_channel: the host"));
    }
  }
}

}  // namespace tessera
