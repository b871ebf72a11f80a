#include "kernels/spmm_tilewise/overlay.h"

#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::spmm_tilewise;

TEST_SUITE("unit") {
  TEST_CASE("an overlay's part names the elements of its columns, dealt to all workers") {
    TilePattern pattern;
    pattern.tiles.push_back({{2, 5, 7, 9}, {}});
    pattern.overlay = {{8, 1}, {3, 5}, {8, 5}, {1, 7}, {2, 9}, {8, 9}};
    const OverlayPart part = overlay_part(pattern, pattern.tiles.front(), {1, 4}, {});
    CHECK(part.rows == std::vector<std::uint32_t>{1, 2, 3, 8});
    CHECK(part.begin == std::vector<std::uint32_t>{0, 2, 3, 5});
    CHECK(part.row == std::vector<std::uint32_t>{2, 3, 0, 1, 3});
    for (const std::uint32_t workers : {1U, 2U, 6U}) {
      std::uint64_t next = 0;
      for (const Interval& mine : worker_columns(part, {12, 12, 3}, workers)) {
        CHECK(mine.begin == next);
        next = mine.end;
      }
      CHECK(next == 3);
    }
    CHECK(overlay_part(pattern, pattern.tiles.front(), {0, 1}, {}).empty());
    // What whole rows carry is not walked.
    CHECK(singles_by_row(pattern, pattern.tiles.front(), 9) ==
          std::vector<std::uint32_t>{0, 1, 1, 1, 0, 0, 0, 0, 2});
    const OverlayPart less = overlay_part(pattern, pattern.tiles.front(), {1, 4}, {1, 8});
    CHECK(less.rows == std::vector<std::uint32_t>{2, 3});
    CHECK(less.begin == std::vector<std::uint32_t>{0, 1, 1, 2});
    CHECK(less.row == std::vector<std::uint32_t>{1, 0});
  }
}
