#include "models/tile/issue.h"

#include <doctest/doctest.h>

#include "sim/base/errors.h"

using namespace tessera;

TEST_SUITE("timing") {
  TEST_CASE("on a barrel a slot comes every `contexts` cycles") {
    TileConfig tile;
    tile.contexts = 6;
    const auto issue = make_issue(tile);
    CHECK(issue->cycles(7) == Cycle(42));
    CHECK(issue->cycles(issue->slots_within(Cycle(41))) > Cycle(41));
  }

  TEST_CASE("a single context has a slot every cycle") {
    TileConfig tile;
    tile.issue = "single";
    tile.contexts = 1;
    const auto issue = make_issue(tile);
    CHECK(issue->cycles(7) == Cycle(7));
    CHECK(issue->cycles(issue->slots_within(Cycle(41))) > Cycle(41));
  }

  TEST_CASE("an unknown issue scheme and a single one with many contexts are refused") {
    TileConfig tile;
    tile.issue = "banana";
    CHECK_THROWS_WITH_AS(make_issue(tile),
                         "tile.issue: found \"banana\", allowed \"barrel\" or \"single\"",
                         UserError);
    tile.issue = "single";
    CHECK_THROWS_AS(make_issue(tile), UserError);
  }
}
