#include "models/chip/tile_step_recorder.h"

#include <doctest/doctest.h>

using namespace tessera;

namespace {

/// Three tiles; in superstep s tile t computes 100 s + t, exchanges s and waits t cycles.
TileSteps recorded(std::uint64_t supersteps, std::uint64_t most_cells) {
  TileStepRecorder recorder(3, most_cells);
  for (std::uint64_t s = 0; s < supersteps; ++s) {
    for (std::uint32_t t = 0; t < 3; ++t) {
      recorder.add(TileId{t}, Cycle(100 * s + t), Cycle(s), Cycle(t));
    }
    recorder.close(true);
  }
  return recorder.kept();
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a row a superstep as long as there is room") {
    const TileSteps kept = recorded(4, 12);
    CHECK(kept.supersteps_a_row == 1);
    CHECK(kept.rows() == 4);
    CHECK(std::vector<std::uint32_t>(kept.cycles.end() - 9, kept.cycles.end()) ==
          std::vector<std::uint32_t>{300, 3, 0, 301, 3, 1, 302, 3, 2});
  }

  TEST_CASE("beyond it neighbouring rows are added up, and no cycle is lost") {
    for (std::uint64_t supersteps = 1; supersteps < 40; ++supersteps) {
      const TileSteps kept = recorded(supersteps, 12);
      CHECK(kept.rows() <= 4);
      CHECK(kept.rows() == ceil_div(supersteps, kept.supersteps_a_row));
      CHECK((kept.supersteps_a_row == 1 || kept.rows() > 2));
      for (std::uint64_t row = 0; row < kept.rows(); ++row) {
        std::uint64_t expected = 0;
        for (std::uint64_t s = row * kept.supersteps_a_row;
             s < std::min((row + 1) * kept.supersteps_a_row, supersteps); ++s) {
          expected += 100 * s + 1;
        }
        CHECK(kept.cycles[(row * 3 + 1) * 3] == expected);
      }
    }
  }

  TEST_CASE("unmeasured work is not counted, and idle tiles have none") {
    TileStepRecorder recorder(2, 100);
    recorder.add(TileId{0}, Cycle(7), Cycle(8), Cycle(9));
    recorder.close(false);
    recorder.add(TileId{1}, Cycle(5), Cycle(0), Cycle(0));
    recorder.close(true);
    CHECK(recorder.kept().cycles == std::vector<std::uint32_t>{0, 0, 0, 5, 0, 0});
  }
}
