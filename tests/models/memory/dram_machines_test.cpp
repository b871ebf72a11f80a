#include <doctest/doctest.h>

#include "models/memory/external_memory.h"
#include "sim/config/config.h"
#include "tests/models/memory/list_writer.h"

/// Published rates and latencies of two machines' memories, computed from their presets.
namespace tessera {
namespace {

using sample::entry;
using sample::put_list;

/// A preset without channel interleaving, so that a test chooses the channel that a tile reads.
MachineConfig preset(const char* name) {
  MachineConfig machine = config::load_machine(name, config::machine_presets());
  machine.external.interleave_bytes = 0;
  return machine;
}

constexpr std::uint32_t kTileSram = 1U << 20U;

/// GB/s of tiles that each read a megabyte with two alternating lists; place(tile) is the channel.
template <class Place>
double read_rate(const MachineConfig& machine, std::uint32_t tiles, std::uint32_t list_bytes,
                 const Place& place) {
  constexpr std::uint32_t kLists = kTileSram - 4096;
  constexpr std::uint32_t kEach = 256;
  constexpr std::uint64_t kBytes = 1U << 20U;
  ExternalMemory memory(machine, tiles);
  HostThreads threads(1);
  std::vector<std::vector<std::byte>> sram(tiles, std::vector<std::byte>(kTileSram));
  std::vector<std::uint64_t> started(tiles);
  const auto start = [&](std::uint32_t tile, std::uint32_t list, Cycle at) {
    if (started[tile] * list_bytes >= kBytes) return;
    program::TransferHeader header{.exchange = 0, .entries = 0};
    const std::uint64_t address =
        place(tile) * machine.external.channel_bytes() + started[tile]++ * list_bytes;
    put_list(sram[tile], list, header,
             {entry(address, (list - kLists) / kEach * list_bytes, list_bytes)});
    memory.begin();
    memory.submit({TileId{tile}, at, sram[tile], Address(list)});
  };
  for (std::uint32_t i = 0; i < tiles; ++i)
    for (const std::uint32_t list : {kLists, kLists + kEach}) start(i, list, Cycle(0));
  Cycle last;
  while (const auto next = memory.next_event()) {
    for (const fabric::Moved& moved : memory.advance(*next, threads)) {
      last = moved.tiles[0].done;
      start(index(moved.participants[0].tile), moved.participants[0].list.count(), last);
    }
  }
  return static_cast<double>(kBytes * tiles) / static_cast<double>(last.count()) *
         machine.clock_ghz;
}

std::uint64_t lone_read(const MachineConfig& machine, std::uint32_t bytes) {
  ExternalMemory memory(machine, 1);
  HostThreads threads(1);
  std::vector<std::byte> sram(4096);
  put_list(sram, 3000, {.exchange = 0}, {entry(0, 0, bytes)});
  memory.submit({TileId{0}, Cycle(0), sram, Address(3000)});
  std::vector<fabric::Moved> moved;
  while (moved.empty()) moved = memory.advance(memory.next_event().value(), threads);
  return moved[0].tiles[0].done.count();
}

}  // namespace

TEST_SUITE("theory") {
  TEST_CASE("a Wormhole channel of 24 GB/s gives the measured 22.3, twelve give 265.5") {
    const MachineConfig machine = preset("wormhole");
    const double one = read_rate(machine, 1, 1U << 18U, [](auto) { return 0ULL; });
    const double twelve =
        read_rate(machine, 12, 1U << 18U, [](std::uint32_t tile) { return std::uint64_t{tile}; });
    MESSAGE("one channel " << one << " GB/s, twelve " << twelve);
    CHECK(one == doctest::Approx(22.3).epsilon(0.03));
    CHECK(twelve == doctest::Approx(265.5).epsilon(0.03));
  }

  TEST_CASE("a UPMEM DPU reads in alpha + beta x size, and two tasklets reach 700 MB/s") {
    const MachineConfig machine = preset("upmem");
    for (const std::uint32_t bytes : {8U, 64U, 256U, 1024U, 2048U})
      CHECK(static_cast<double>(lone_read(machine, bytes)) ==
            doctest::Approx(77 + 0.5 * bytes).epsilon(0.03));
    const double rate = read_rate(machine, 1, 2048, [](auto) { return 0ULL; });
    MESSAGE("two tasklets " << 1000 * rate << " MB/s");
    CHECK(rate == doctest::Approx(0.7).epsilon(0.03));
  }
}

}  // namespace tessera
