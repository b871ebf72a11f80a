#include "sim/base/demand_zero.h"

#include <utility>

#include <doctest/doctest.h>

using tessera::DemandZero;

TEST_SUITE("unit") {
  TEST_CASE("mapped bytes are zeros, and move with their owner") {
    DemandZero memory(10'000);
    REQUIRE(memory.data() != nullptr);
    CHECK(memory.size() == 10'000);
    CHECK(memory.data()[9'999] == std::byte{});
    memory.data()[9'999] = std::byte{7};
    DemandZero other = std::move(memory);
    CHECK(other.data()[9'999] == std::byte{7});
    memory = DemandZero(1);
    memory = std::move(other);
    CHECK(memory.data()[9'999] == std::byte{7});
  }

  TEST_CASE("memory that the host cannot map is null") {
    CHECK(DemandZero(std::size_t{1} << 60).data() == nullptr);
    CHECK(DemandZero().data() == nullptr);
  }
}
