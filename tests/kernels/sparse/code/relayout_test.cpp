#include "kernels/sparse/code/relayout.h"

#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::sparse;

TEST_SUITE("unit") {
  TEST_CASE("panels cover what a tile holds, and their squares are done once by its workers") {
    const Chunked part{{160, 1000}, 8, 20, {}};
    const std::vector<Panel> panels = panels_of(part);
    std::uint64_t at = 160;
    for (const Panel& panel : panels) {
      CHECK(panel.offset == at - 160);
      CHECK(panel.row == at / 160 * 8);
      CHECK(panel.begin == at / 8 % 20);
      CHECK(panel.end <= 20);
      at += panel.width() * 8;
    }
    CHECK(at == 1000);
    std::uint64_t squares = 0;
    for (const auto& runs : transpositions(part, 2, Direction::to_blocks, 6)) {
      for (const SquareRun& run : runs) squares += run.squares;
    }
    CHECK(squares == 840 / 16);
  }
}
