#include <doctest/doctest.h>

#include "tests/models/memory/outer_bench.h"
#include "tests/models/memory/plain_memory.h"
#include "tests/models/memory/random_scene.h"

namespace tessera::sample {
namespace {

bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::ranges::equal(a, b);
}

void compare(OuterBench& bench, PlainMemory& plain) {
  std::ranges::sort(bench.outcomes);
  CHECK(bench.outcomes == plain.outcomes);
  CHECK(bench.sram() == plain.sram());
  for (std::uint32_t i = 0; i < plain.store.size(); ++i)
    CHECK(same_bytes(bench.store(i), plain.store[i]));
  REQUIRE(bench.memory.channels() == plain.channels.size());
  DramChannel::Statistics sum;
  for (std::uint32_t i = 0; i < plain.channels.size(); ++i) {
    CHECK(bench.memory.channel(i) == plain.channels[i].statistics);
    sum += plain.channels[i].statistics;
  }
  CHECK(bench.memory.totals() == sum);
  CHECK(bench.memory.read().count() == sum.bytes_read);
  CHECK(bench.memory.written().count() == sum.bytes_written);
}

}  // namespace

TEST_SUITE("theory") {
  TEST_CASE("random transfers end in the cycles, and leave the bytes, of a plain stepper") {
    std::uint64_t transfers = 0;
    std::uint64_t moved = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
      CAPTURE(seed);
      const Scene scene = RandomScene(seed).make();
      PlainMemory plain(scene);
      plain.run();
      std::ranges::sort(plain.outcomes);
      transfers += plain.outcomes.size();
      for (const Outcome& outcome : plain.outcomes) moved += outcome.read + outcome.written > 0;
      for (const std::uint64_t shuffle : {0ULL, 1ULL, 2ULL}) {
        OuterBench bench(scene, shuffle);
        bench.run();
        compare(bench, plain);
      }
    }
    CHECK(transfers > 2000);
    CHECK(moved > 1000);
  }
}

}  // namespace tessera::sample
