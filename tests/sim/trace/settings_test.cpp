#include "sim/trace/settings.h"

#include <doctest/doctest.h>

#include "sim/base/errors.h"

using namespace tessera;

TEST_SUITE("unit") {
  TEST_CASE("tiles are named one by one, by ranges, or all") {
    const auto tiles = [](const char* text) {
      std::vector<std::uint32_t> numbers;
      for (const TileId tile : trace::tiles_of(text, 6)) numbers.push_back(index(tile));
      return numbers;
    };
    using Numbers = std::vector<std::uint32_t>;
    CHECK(tiles("all") == Numbers{0, 1, 2, 3, 4, 5});
    CHECK(tiles("3") == Numbers{3});
    CHECK(tiles("4-63,0,1-1") == Numbers{0, 1, 4, 5});
  }

  TEST_CASE("selections that name no tiles are refused") {
    for (const char* text : {"", "x", "-", "1-", "-1", "2-1", "1,", ",1", "1,,2", "6", "6-7", "1 "})
      CHECK_THROWS_AS(trace::tiles_of(text, 6), KeyError);
  }
}
