#include "models/memory/dram_channel.h"

#include <doctest/doctest.h>

namespace tessera {
namespace {

/// Tests of the single rules; random_memory_test compares orders, rows and statistics with a plain
/// channel. A row has 4 bursts of 16 bytes; a burst takes 4 clocks; 2 banks; the chip's clock is
/// the DRAM's.
DramConfig small() {
  DramConfig dram;
  dram.bytes_per_clock = 4;
  dram.burst_bytes = 16;
  dram.banks = 2;
  dram.row_bytes = 64;
  dram.rcd_clocks = 10;
  dram.rp_clocks = 12;
  dram.ras_clocks = 30;
  dram.cl_clocks = 7;
  dram.cwl_clocks = 5;
  dram.wr_clocks = 9;
  dram.rtp_clocks = 6;
  dram.wtr_clocks = 8;
  dram.rtw_clocks = 3;
  return dram;
}

constexpr std::uint64_t kRow = 64;
constexpr std::uint64_t kSameBank = 2 * kRow;  ///< to the next row of a bank

struct Asked {
  std::uint64_t address;
  bool write = false;
  std::uint64_t arrival = 0;
  std::uint32_t bytes = 16;
};

/// Serves all requests; returns their data in order of choice. Tags number the requests from 0.
std::vector<DramChannel::Service> serve(DramChannel& channel, const std::vector<Asked>& asked) {
  std::vector<DramChannel::Service> services;
  std::uint32_t tag = 0;
  for (const Asked& each : asked) {
    while (channel.next() && channel.next()->count() < each.arrival)
      services.push_back(channel.serve());
    channel.push({each.address, each.bytes, each.write, tag++, Cycle(each.arrival)});
  }
  while (channel.next()) services.push_back(channel.serve());
  return services;
}
std::vector<DramChannel::Service> serve(const DramConfig& dram, const std::vector<Asked>& asked,
                                        std::uint32_t window = 4) {
  DramChannel channel(dram, 1.0, window);
  return serve(channel, asked);
}

/// The clock at which the last request's data begin.
std::uint64_t begins(const DramConfig& dram, const std::vector<Asked>& asked) {
  return serve(dram, asked).back().first.count();
}

}  // namespace

TEST_SUITE("timing") {
  TEST_CASE("a closed bank takes tRCD and tCL to its first data, an open row tCL") {
    const auto services = serve(small(), {{0}, {16, false, 100}});
    CHECK(services[0].first.count() == 10 + 7);
    CHECK(services[0].last.count() == 10 + 7 + 4);
    CHECK(services[1].first.count() == 100 + 7);
  }

  TEST_CASE("a command waits for what the one before it takes, to the clock") {
    struct Wait {
      const char* what;
      std::vector<Asked> before;
      Asked then;              ///< its arrival is earliest - 1, earliest and earliest + 1
      std::uint64_t earliest;  ///< clock of its first command
      std::uint64_t to_data;   ///< clocks from that command to the data
    };
    const Wait waits[] = {
        {"tRAS before another row is opened", {{0}}, {kSameBank}, 30, 12 + 10 + 7},
        // The read at 100 is the last command on the row.
        {"tRTP after the last read", {{0}, {16, false, 100}}, {kSameBank}, 106, 12 + 10 + 7},
        // The data burst is from 105 to 109.
        {"tWR after the last data written",
         {{0}, {16, true, 100}},
         {kSameBank, true},
         118,
         12 + 10 + 5},
        {"tWTR before a read", {{0}, {16, true, 100}}, {32}, 117, 7},
        // Read data end at 111, so written data begin at 114 or later.
        {"the turnaround to a write", {{0}, {16, false, 100}}, {32, true}, 109, 5}};
    for (const Wait& wait : waits)
      for (const std::uint64_t arrival : {wait.earliest - 1, wait.earliest, wait.earliest + 1}) {
        CAPTURE(wait.what);
        CAPTURE(arrival);
        std::vector<Asked> asked = wait.before;
        asked.push_back(wait.then);
        asked.back().arrival = arrival;
        CHECK(begins(small(), asked) == std::max(arrival, wait.earliest) + wait.to_data);
      }
  }

  TEST_CASE("a refresh is due every tREFI, takes tRFC, and closes all rows") {
    DramConfig dram = small();
    dram.refi_clocks = 200;
    dram.rfc_clocks = 50;
    // Chosen at 199 it hits; at 200 the row is precharged, and can be opened at 212 + 50.
    CHECK(begins(dram, {{0}, {16, false, 199}}) == 199 + 7);
    CHECK(begins(dram, {{0}, {16, false, 200}}) == 200 + 12 + 50 + 10 + 7);
    // No row is open at 400: the refresh takes only tRFC.
    CHECK(begins(dram, {{0}, {16, false, 400}}) == 400 + 50 + 10 + 7);
    CHECK(begins(dram, {{0}, {16, false, 449}}) == 450 + 10 + 7);
    CHECK(begins(dram, {{0}, {16, false, 451}}) == 451 + 10 + 7);
    DramChannel channel(dram, 1.0, 4);
    serve(channel, {{0}, {16, false, 1001}});
    CHECK(channel.statistics().refreshes == 5);
    CHECK(channel.statistics().row_misses == 2);
  }

  TEST_CASE("clocks cross exactly where products need more than 64 bits") {
    const ClockCrossing clocks(1.85, 1.2);
    const std::uint64_t hour = 3600ULL * 1850 * 1000 * 1000 * 1000;
    CHECK(clocks.clock(Cycle(hour)) == hour / 37 * 24 + (hour % 37 * 24 + 36) / 37);
    CHECK(clocks.cycle(24 * hour).count() == 37 * hour);
    CHECK(clocks.cycle_of(24 * hour + 23).count() == 37 * hour + 35);
  }
}

TEST_SUITE("theory") {
  TEST_CASE("no channel moves more than its bus, and streams of rows reach all but the refreshes") {
    DramConfig dram;
    dram.bytes_per_clock = 16;
    dram.rcd_clocks = dram.rp_clocks = dram.cl_clocks = 20;
    dram.ras_clocks = 40;
    dram.refi_clocks = 4000;
    dram.rfc_clocks = 400;
    DramChannel channel(dram, 1.0, 8);
    constexpr std::uint64_t kRequests = 20'000;
    for (std::uint32_t i = 0; i < kRequests; ++i)
      channel.push({std::uint64_t{i} * 512, 512, false, i, Cycle(0)});
    Cycle last;
    while (channel.next()) last = channel.serve().last;
    const double rate = 512.0 * kRequests / static_cast<double>(last.count());
    CHECK(rate <= 16.0 * 0.9);
    CHECK(rate > 16.0 * 0.88);
    CHECK(channel.statistics().busy_clocks == kRequests * 32);
  }
}

}  // namespace tessera
