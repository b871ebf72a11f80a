#include <set>

#include <doctest/doctest.h>

#include "kernels/convnet/tiles/geometry.h"

/// f16 layers on tiles that exchange what they hold.
namespace tessera::convnet::tiles {

TEST_SUITE("unit") {
  TEST_CASE(
      "workers' runs have every position of a tile once, none beyond a row but between rows") {
    const BlockShape block{kernels::Type::f16, kernels::Type::f32, 16, 8, 4, 2, 4};
    LayerShape shape{.operands = {std::vector<Source>(3)}};
    for (std::uint32_t height = 1; height < 15; ++height)
      for (std::uint32_t width = 1; width < 15; ++width)
        for (const std::uint32_t window : {1U, 3U})
          for (const std::uint32_t workers : {1U, 6U, 8U}) {
            shape.output = {height, width, 32};
            shape.window.height = shape.window.width = window;
            const Geometry g(shape, block, {}, {0, 1});
            const std::uint64_t pitch = g.pitch({});
            std::set<std::uint64_t> seen;
            for (const Positions& run : g.runs({}, workers))
              for (std::uint64_t at = run.begin; at < run.end; ++at) CHECK(seen.insert(at).second);
            for (std::uint64_t row = 0; row < height; ++row)
              for (std::uint64_t column = 0; column < width; ++column)
                CHECK(seen.contains(row * pitch + column));
            CHECK(*seen.rbegin() + 1 == g.positions({}));
          }
  }

  TEST_CASE("tiles and cells name each other, and every group has one finisher") {
    const BlockShape block{kernels::Type::f16, kernels::Type::f32, 16, 8, 4, 2, 4};
    LayerShape shape{.output = {7, 9, 100}, .operands = {std::vector<Source>(5)}};
    const Geometry g(shape, block, {2, 3, 4, 2}, {40, 60});
    std::uint64_t finished = 0;
    for (Tile tile = 0; tile < 60; ++tile) {
      if (!g.works(tile)) continue;
      const Cell cell = g.cell(tile);
      CHECK(g.tile(cell) == tile);
      for (std::uint64_t group = g.share(cell).begin; group < g.share(cell).end; ++group)
        CHECK(g.tile(g.finisher(cell.row, cell.column, group)) == tile);
      finished += g.rows(cell).size() * g.columns(cell).size() * g.share(cell).size();
    }
    CHECK(finished == 7 * 9 * 7);
  }
}

}  // namespace tessera::convnet::tiles
