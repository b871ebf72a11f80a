#include "kernels/sparse/published/reduction_placement.h"

#include <set>

#include <doctest/doctest.h>

#include "kernels/sparse/operand/weights.h"
#include "kernels/spmm_static/work.h"
#include "tests/kernels/unit_shapes.h"

using namespace tessera;
using namespace tessera::spmm_static;
using sparse::published::ReductionPlacement;

namespace {

sparse::Shape half() { return test::full_shape(16, Type::f16, Type::f16); }
constexpr ReductionPlacement kBow{1472, 4, 90};

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a sum is made at home while few partials meet on few results") {
    // Computed by hand: m = 1024, n = 64 leaves 48 results a tile: 24 + 12 R + 90 cycles at home
    // against 4 R + 2 R + 24 + 180.
    CHECK(kBow.at_home(half(), {1024, 8, 48}));
    CHECK(kBow.at_home(half(), {1024, 14, 48}));
    CHECK_FALSE(kBow.at_home(half(), {1024, 15, 48}));
    // n = 1024: 720 results a tile.
    CHECK_FALSE(kBow.at_home(half(), {8192, 2, 720}));
  }

  TEST_CASE("a spread sum goes in pieces of four words at least onto tiles side by side") {
    for (const std::uint64_t elements : {8U, 16U, 40U, 1024U, 65536U}) {
      CAPTURE(elements);
      const auto pieces = kBow.spread(half(), elements, 3);
      std::uint64_t at = 0;
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        CHECK(pieces[i].begin == at);
        CHECK((pieces[i].end - at >= 16 || pieces.size() == 1));
        CHECK(pieces[i].tile == (pieces[0].tile + i) % kBow.tiles);
        at = pieces[i].end;
      }
      CHECK(at == elements);
      CHECK(pieces.size() <= kBow.tiles);
    }
    CHECK(kBow.spread(half(), 1024, 3).size() == 64);
    CHECK(kBow.spread(half(), 65536, 3).size() == 1366);  // of 48 elements
  }

  TEST_CASE("sums begin at tiles of their own, some of them close together") {
    std::set<std::uint32_t> first;
    for (std::uint64_t number = 0; number < 100; ++number) {
      first.insert(kBow.spread(half(), 16, number).front().tile);
    }
    CHECK(first.size() > 80);
    CHECK(first.size() < 100);
  }
}
