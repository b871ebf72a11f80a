#include "models/chip/sram.h"

#include <doctest/doctest.h>

#include "sim/base/errors.h"

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

  TEST_CASE("the pages that a tile has touched are counted for that tile") {
    const Sram sram(100, 5000);
    sram.tile(TileId(7))[0] = std::byte{1};
    sram.tile(TileId(7))[4999] = std::byte{1};
    sram.tile(TileId(99))[1] = std::byte{1};
    const std::vector<Bytes> touched = sram.touched();
    CHECK(touched[7] == touched[99] + touched[99]);
    CHECK(touched[99].count() >= 4096);
    CHECK(touched[6] == Bytes(0));
    CHECK(touched[8] == Bytes(0));
  }

  TEST_CASE("more memory than the host can map is the user's error") {
    CHECK_THROWS_AS(Sram(4'000'000'000, 2'000'000'000), UserError);
  }
}
