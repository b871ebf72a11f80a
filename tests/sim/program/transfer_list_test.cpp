#include "sim/program/transfer_list.h"

#include <cstring>

#include <doctest/doctest.h>

#include "sim/base/errors.h"

using namespace tessera;
using namespace tessera::program;

namespace {

/// 128 bytes of SRAM with a host transfer list of this entry at address `at`.
std::vector<std::byte> sram_with(std::uint32_t at, std::uint32_t entries, HostEntry entry) {
  std::vector<std::byte> sram(128);
  const TransferHeader header{
      .exchange = 0, .participants = kToHost, .entries = entries, .turns = {}};
  std::memcpy(sram.data() + at, &header, sizeof header);
  std::memcpy(sram.data() + at + sizeof header, &entry, sizeof entry);
  return sram;
}

void check_refused(const std::vector<std::byte>& sram, std::uint32_t at, const char* problem) {
  CHECK_THROWS_WITH_AS(
      read_host_list(TileId{3}, sram, Address(at)),
      fmt::format("tile 3: list of a transfer with the host at {:#x} {}", at, problem).c_str(),
      UserError);
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a list's header says who carries its transfer; beyond SRAM the fabric is asked") {
    std::vector<std::byte> sram(64, std::byte{1});
    const auto carrier = [&](std::uint32_t participants) {
      std::memcpy(sram.data() + 4, &participants, sizeof participants);
      return carrier_of(sram, Address(0));
    };
    CHECK(carrier(kWithMemory) == Carrier::memory);
    CHECK(carrier(kToHost) == Carrier::host);
    CHECK(carrier(kFromHost) == Carrier::host);
    CHECK(carrier(1) == Carrier::fabric);
    CHECK(carrier_of(sram, Address(60)) == Carrier::fabric);
  }

  TEST_CASE("lists of the host are read, and broken ones refused with tile, list and entry") {
    const HostList read = read_host_list(TileId{0}, sram_with(16, 1, {96, 32}), Address(16));
    CHECK(read.outward());
    REQUIRE(read.entries.size() == 1);
    CHECK(read.entries[0].address == 96);
    check_refused(sram_with(16, 1, {0, 4}), 20, "is not aligned to 8");
    check_refused(sram_with(16, 1, {0, 4}), 96, "does not lie within the 128 bytes of SRAM");
    check_refused(sram_with(16, 10, {0, 4}), 16,
                  "has 10 entries and does not lie within the 128 bytes of SRAM");
    check_refused(sram_with(16, 1, {100, 32}), 16,
                  "entry 0: 32 bytes at 0x64 do not lie within the 128 bytes of SRAM");
  }
}
