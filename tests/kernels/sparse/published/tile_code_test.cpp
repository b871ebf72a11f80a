#include <doctest/doctest.h>

#include "kernels/sparse/published/policy.h"

using namespace tessera::sparse::published;
using tessera::program::Type;

TEST_SUITE("unit") {
  TEST_CASE("the published estimates are those of the worked examples") {
    const auto elements = [](Type type, std::uint64_t rows, std::uint64_t width) {
      return product_cycles({1, type, type}, rows, 16, width, 6);
    };
    CHECK(elements(Type::f16, 1, 4) == 408);
    CHECK(elements(Type::f16, 1, 8) == 504);
    CHECK(elements(Type::f16, 1, 64) == 3096);
    CHECK(elements(Type::f32, 1, 64) == 5538);
    CHECK(elements(Type::f16, 16, 64) == 46566);
    CHECK(elements(Type::f16, 16, 8) == 5274);
    CHECK(elements(Type::f32, 16, 64) == 85818);
    const auto blocks = [](std::uint32_t block, Type type) {
      return product_cycles({block, type, type}, 8, 4, 64, 6);
    };
    CHECK(blocks(4, Type::f16) == 5564);
    CHECK(blocks(4, Type::f32) == 11044);
    CHECK(blocks(8, Type::f16) == 7844);
    CHECK(blocks(8, Type::f32) == 20980);
    CHECK(blocks(16, Type::f16) == 14180);
    CHECK(blocks(16, Type::f32) == 49990);
    CHECK(zeroing_cycles({8, Type::f32, Type::f32}, 4096, 6) == 588);
    CHECK(zeroing_cycles({4, Type::f32, Type::f32}, 4096, 6) == 0);
    CHECK(adding_cycles({8, Type::f16, Type::f16}, 1024, 8, 6) == 2868);
    CHECK(adding_cycles({8, Type::f32, Type::f32}, 1024, 8, 6) == 4740);
    CHECK(adding_cycles({8, Type::f16, Type::f16}, 1024, 2, 6) == 2076);
    CHECK(adding_cycles({8, Type::f16, Type::f16}, 1024, 1, 6) == 0);
  }
}
