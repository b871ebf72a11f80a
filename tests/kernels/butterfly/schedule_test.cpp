#include "kernels/butterfly/schedule.h"

#include <doctest/doctest.h>

using namespace tessera::butterfly;

namespace {

Problem problem_of(std::uint32_t features, Order order) {
  return {.features = features, .order = order};
}

/// The feature in each row of each tile after a swap, from where rows were before it.
std::uint32_t feature_after(const Rows& before, const Swap& swap, std::uint32_t tile,
                            std::uint32_t row) {
  const auto low = static_cast<std::uint32_t>(before.row_bits.size()) - swap.bits;
  const std::uint32_t ways = (1U << swap.bits) - 1;
  const std::uint32_t from_tile = (tile & ~(ways << swap.tile_place)) | (row >> low)
                                                                            << swap.tile_place;
  const std::uint32_t from_row = (row & ((1U << low) - 1)) | (tile >> swap.tile_place & ways)
                                                                 << low;
  return before.feature(from_tile, from_row);
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("every factor is applied once, in its order, to rows that are on one tile") {
    for (const Order order : {Order::increasing, Order::decreasing})
      for (const bool backward : {false, true})
        for (std::uint32_t tiles = 1; tiles <= 128; tiles *= 2) {
          const Problem problem = problem_of(256, order);
          std::uint32_t next = 0;
          for (const RowPass& pass : schedule(problem, tiles, 2, backward)) {
            CHECK(pass.rows.count() == 256 / tiles);
            for (const std::uint32_t stage : pass.stages) {
              CHECK(stage == (backward ? 7 - next : next));
              CHECK(pass.rows.place(problem.bit(stage)).has_value());
              ++next;
            }
          }
          CHECK(next == 8);
        }
  }

  TEST_CASE("the holder of a feature has it in the row that is said") {
    for (std::uint32_t tiles = 1; tiles <= 128; tiles *= 2)
      for (const RowPass& pass : schedule(problem_of(256, Order::decreasing), tiles, 1, false))
        for (std::uint32_t feature = 0; feature < 256; ++feature) {
          const Rows::Holder holder = pass.rows.holder(feature);
          CHECK(holder.tile < tiles);
          CHECK(pass.rows.feature(holder.tile, holder.row) == feature);
        }
  }

  TEST_CASE("a swap brings every feature to where the next pass expects it") {
    for (const Order order : {Order::increasing, Order::decreasing})
      for (std::uint32_t tiles = 2; tiles <= 128; tiles *= 2) {
        const auto passes = schedule(problem_of(256, order), tiles, 1, false);
        std::uint32_t swaps = 0;
        for (std::size_t i = 1; i < passes.size(); ++i) {
          if (!passes[i].before) continue;
          ++swaps;
          for (std::uint32_t tile = 0; tile < tiles; ++tile)
            for (std::uint32_t row = 0; row < 256 / tiles; ++row)
              CHECK(passes[i].rows.feature(tile, row) ==
                    feature_after(passes[i - 1].rows, *passes[i].before, tile, row));
        }
        CHECK(swaps > 0);
      }
  }

  TEST_CASE("features split over as many tiles as a tile has rows are swapped once") {
    std::uint32_t swaps = 0;
    for (const RowPass& pass : schedule(problem_of(256, Order::increasing), 16, 2, false))
      swaps += pass.before ? 1 : 0;
    CHECK(swaps == 1);
  }
}
