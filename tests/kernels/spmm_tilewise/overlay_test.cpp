#include "kernels/spmm_tilewise/overlay.h"

#include <string>

#include <doctest/doctest.h>

#include "tests/kernels/lone_codelet.h"

using namespace tessera;
using namespace tessera::spmm_tilewise;

namespace {

/// Slots of one worker on `columns` columns of `elements` elements each.
std::uint64_t slots(const char* codelet, std::uint32_t panels, std::uint32_t passes,
                    std::uint32_t columns, std::uint32_t elements) {
  test::LoneCodelet lone("sparse/code", codelet);
  constexpr std::uint32_t kArguments = test::LoneCodelet::kData;
  constexpr std::uint32_t kList = kArguments + 0x1000;
  constexpr std::uint32_t kValues = kArguments + 0x4000;
  const std::uint32_t vector = 16 * passes;
  const std::uint32_t words[] = {kArguments + 0x8000,
                                 kArguments + 0x10000,
                                 panels,
                                 passes,
                                 0,
                                 (columns - 1) * vector,
                                 vector,
                                 0,
                                 kList,
                                 kValues,
                                 columns,
                                 0};
  for (std::uint32_t i = 0; i < std::size(words); ++i) lone.put(kArguments + 4 * i, words[i]);
  std::uint32_t at = kList;
  for (std::uint32_t column = 0; column < columns; ++column) {
    lone.put(at, static_cast<std::uint16_t>(elements));
    at += 2 + 2 * elements;  // all name the first row
  }
  return lone.slots(kArguments);
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("the overlay's codelets take the slots that the planner counts with") {
    for (const char* codelet :
         {"overlay_f16", "overlay_f32", "overlay_add_f16", "overlay_add_f32"}) {
      const bool adds = std::string(codelet).find("add") != std::string::npos;
      CAPTURE(adds);
      for (const std::uint32_t panels : {1U, 3U}) {
        for (const std::uint32_t passes : {1U, 2U, 4U}) {
          for (const std::uint32_t columns : {1U, 5U}) {
            for (const std::uint32_t elements : {2U, 3U, 20U}) {
              CAPTURE(panels);
              CAPTURE(passes);
              CAPTURE(columns);
              CAPTURE(elements);
              CHECK(
                  slots(codelet, panels, passes, columns, elements) ==
                  overlay_slots(panels, passes, columns, std::uint64_t{columns} * elements, adds));
            }
          }
        }
      }
      CHECK(slots(codelet, 2, 2, 4, 1) <= overlay_slots(2, 2, 4, 4, adds));
      CHECK(slots(codelet, 1, 1, 0, 0) == overlay_slots(1, 1, 0, 0, adds));
      CHECK(slots(codelet, 2, 2, 4, 0) <= overlay_slots(2, 2, 4, 0, adds));
    }
  }

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
      for (const gemm::Interval& mine : worker_columns(part, workers)) {
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
