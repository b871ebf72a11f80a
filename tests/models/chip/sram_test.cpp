#include "models/chip/sram.h"

#include <doctest/doctest.h>

#include "sim/base/host_limit.h"

using namespace tessera;

TEST_SUITE("unit") {
  TEST_CASE("tiles' memories start as zeros, do not overlap, and cost what they touch") {
    const Sram sram(65536, 624 * 1024);  // 40 GB of address space
    CHECK(sram.tile(TileId(65535))[638975] == std::byte{0});
    sram.tile(TileId(3))[0] = std::byte{7};
    sram.tile(TileId(2))[638975] = std::byte{8};
    CHECK(sram.tile(TileId(3))[0] == std::byte{7});
    CHECK(sram.tile(TileId(4)).data() - sram.tile(TileId(3)).data() >= 638976);
  }

  TEST_CASE("more memory than the host can map is the host's limit") {
    CHECK_THROWS_AS(Sram(4'000'000'000, 2'000'000'000), HostLimit);
  }
}
