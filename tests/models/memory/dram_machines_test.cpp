#include <doctest/doctest.h>

#include "models/memory/external_memory.h"
#include "tests/models/memory/list_writer.h"

/// Published rates and latencies of two machines' memories, from numbers of their DRAM.
namespace tessera {
namespace {

using sample::entry;
using sample::put_list;

/// GDDR6 at 12 Gb/s a pin, a channel of 16 pins: 24 GB/s, 16 bytes a command clock of 1.5 GHz.
/// Timings are those of Ramulator 2's preset GDDR6_2000_1350mV_double (its tCK 0.57 ns) in ns, and
/// from there in clocks of 1.5 GHz, rounded up: nCL 24, nRCDRD 26, nRP 26, nRAS 53, nWR 26, nRTP 4,
/// nWTRL 11, nRFC 210 -> 120 ns, nREFI 3333 -> 1.9 us; nCWL is 6 clocks. JESD250: a burst of 16
/// moves 32 bytes, rows of 2 KiB, 16 banks. Chosen, as nothing is published: the turnaround, ways,
/// requests under way, window.
MachineConfig wormhole() {
  MachineConfig machine;
  machine.clock_ghz = 1.0;
  machine.has_external = true;
  ExternalConfig& external = machine.external;
  external.channels = 12;
  external.mib_per_channel = 1024;
  external.interleave_bytes = 0;
  external.request_bytes = 1024;
  external.outstanding = 16;
  external.dma_bytes_per_cycle = 32;  // its links': 32 bytes a cycle
  external.way_cycles = 60;
  DramConfig& dram = external.dram;
  dram.clock_ghz = 1.5;
  dram.bytes_per_clock = 16;
  dram.burst_bytes = 32;
  dram.banks = 16;
  dram.row_bytes = 2048;
  dram.cl_clocks = 21;
  dram.rcd_clocks = 23;
  dram.rp_clocks = 23;
  dram.ras_clocks = 46;
  dram.wr_clocks = 23;
  dram.rtp_clocks = 4;
  dram.cwl_clocks = 6;
  dram.wtr_clocks = 10;
  dram.rtw_clocks = 4;
  dram.rfc_clocks = 180;
  dram.refi_clocks = 2850;
  return machine;
}

/// uPIMulator's defaults: 2400 MHz, rows of 1024 bytes, at least 8 bytes in tBL 8, tRCD 32, tRAS
/// 78, tRP 32, tCL 32; logic of 350 MHz, a DMA of 2 bytes a cycle at most. Chosen: setup_cycles, by
/// which alpha is 77 cycles; CWL as CL, no tWR, tRTP and turnarounds; no refresh.
MachineConfig upmem() {
  MachineConfig machine;
  machine.clock_ghz = 0.35;
  machine.has_external = true;
  ExternalConfig& external = machine.external;
  external.reach = ExternalReach::tile;
  external.mib_per_channel = 64;
  external.interleave_bytes = 0;
  external.request_bytes = 1024;
  external.outstanding = 2;
  external.dma_bytes_per_cycle = 2;
  external.setup_cycles = 67;
  DramConfig& dram = external.dram;
  dram.clock_ghz = 2.4;
  dram.bytes_per_clock = 1;
  dram.burst_bytes = 8;
  dram.banks = 1;
  dram.row_bytes = 1024;
  dram.rcd_clocks = 32;
  dram.ras_clocks = 78;
  dram.rp_clocks = 32;
  dram.cl_clocks = 32;
  dram.cwl_clocks = 32;
  return machine;
}

constexpr std::uint32_t kTileSram = 1U << 20U;

/// GB/s of tiles that each read a megabyte, in two lists in turn, from the channel that `place`
/// gives.
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
    const double one = read_rate(wormhole(), 1, 1U << 18U, [](auto) { return 0ULL; });
    const double twelve = read_rate(wormhole(), 12, 1U << 18U,
                                    [](std::uint32_t tile) { return std::uint64_t{tile}; });
    MESSAGE("one channel " << one << " GB/s, twelve " << twelve);
    CHECK(one == doctest::Approx(22.3).epsilon(0.03));
    CHECK(twelve == doctest::Approx(265.5).epsilon(0.03));
  }

  TEST_CASE("a UPMEM DPU reads in alpha + beta x size, and two tasklets reach 700 MB/s") {
    const MachineConfig machine = upmem();
    for (const std::uint32_t bytes : {8U, 64U, 256U, 1024U, 2048U})
      CHECK(static_cast<double>(lone_read(machine, bytes)) ==
            doctest::Approx(77 + 0.5 * bytes).epsilon(0.03));
    const double rate = read_rate(machine, 1, 2048, [](auto) { return 0ULL; });
    MESSAGE("two tasklets " << 1000 * rate << " MB/s");
    CHECK(rate == doctest::Approx(0.7).epsilon(0.03));
  }
}

}  // namespace tessera
