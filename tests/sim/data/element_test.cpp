#include "sim/data/element.h"

#include <array>

#include <doctest/doctest.h>

#include "sim/base/errors.h"

using tessera::program::Type;

TEST_SUITE("unit") {
  TEST_CASE("elements are read as they are stored, or their type is a defect") {
    std::array<std::byte, 8> bytes{};
    for (const Type type : {Type::f16, Type::f32, Type::i32, Type::u32}) {
      tessera::data::store_element(type, bytes, 1, 1000);
      CHECK(tessera::data::load_element(type, bytes, 1) == 1000);
    }
    tessera::data::store_element(Type::u32, bytes, 1, 4e9);
    CHECK(tessera::data::load_element(Type::u32, bytes, 1) == 4e9);
    CHECK_THROWS_AS(tessera::data::load_element(Type::i8, bytes, 1), tessera::Defect);
  }
}
