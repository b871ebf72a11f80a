#include "models/chip/stuck_tiles.h"

#include <vector>

#include <doctest/doctest.h>

#include "tests/refusal.h"

using tessera::summarise_tiles;

TEST_SUITE("unit") {
  TEST_CASE("tiles in one state share a line, ended tiles have none") {
    std::vector<std::string> states(1480, "waiting");
    states[0].clear();
    states[1] = "lost";
    states[7] = "lost";
    states[1475].clear();
    CHECK(summarise_tiles(states) ==
          "\n  tiles 1, 7: lost\n  tiles 2-6, 8-1474, 1476-1479: waiting");
  }

  TEST_CASE("many different states are counted, not printed") {
    std::vector<std::string> states(100);
    for (std::size_t i = 0; i < states.size(); ++i) states[i] = "since cycle " + std::to_string(i);
    const std::string text = summarise_tiles(states);
    CHECK(tessera::test::holds(text, "tile 39: since cycle 39"));
    CHECK(!tessera::test::holds(text, "since cycle 40"));
    CHECK(tessera::test::holds(text, "and 60 tiles more"));
  }

  TEST_CASE("scattered tiles are cut short with their number") {
    std::vector<std::string> states(100);
    for (std::size_t i = 0; i < 100; i += 2) states[i] = "here";
    CHECK(tessera::test::holds(summarise_tiles(states), "22, ... (50 tiles): here"));
  }
}
