#include "sim/engine/tainted_memory.h"

#include <array>
#include <cstring>
#include <span>
#include <sys/resource.h>

#include <doctest/doctest.h>

using tessera::engine::TaintedMemory;
using tessera::engine::TaintSets;

namespace {

long pages_touched() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a large memory costs the host what is touched of it") {
    const long before = pages_touched();
    TaintedMemory memory(1U << 30U);
    memory.receive((1U << 30U) - 8, 8);
    TaintSets sets;
    CHECK(memory.read(0, 8, TaintedMemory::Who::worker, sets) == tessera::engine::kUnknown);
    CHECK(pages_touched() - before < 100);
  }

  TEST_CASE("words that a worker has read and then written can be restored") {
    constexpr std::uint32_t kAt = 8;
    const std::array<std::uint32_t, 2> counts{3, 7};
    TaintedMemory memory(64);
    memory.know(kAt, std::as_bytes(std::span(counts)));
    TaintSets sets;
    const auto count = [&](std::size_t i) {
      std::uint32_t value = 0;
      std::memcpy(&value, memory.bytes() + kAt + 4 * i, sizeof value);
      return value;
    };
    const auto write = [&](std::size_t i, std::uint32_t value) {
      const auto address = static_cast<std::uint32_t>(kAt + 4 * i);
      REQUIRE(memory.write(address, sizeof value, TaintedMemory::Who::worker, &value));
      std::memcpy(memory.bytes() + address, &value, sizeof value);
    };
    REQUIRE(memory.read(kAt, 4, TaintedMemory::Who::worker, sets) == tessera::engine::kKnown);
    for (const std::uint32_t value : {4U, 5U}) write(0, value);
    write(1, 8);  // a word that nobody has read
    memory.restore_replaced();
    CHECK(count(0) == 3);
    CHECK(count(1) == 8);
    write(0, 4);
    memory.forget_replaced();
    memory.restore_replaced();
    CHECK(count(0) == 4);
  }
}
