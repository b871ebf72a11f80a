#include "sim/engine/tainted_memory.h"

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
}
