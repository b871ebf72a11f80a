#include <random>

#include <doctest/doctest.h>

#include "tests/sim/engine/assembled.h"

namespace tessera::engine::test {
namespace {

Instruction amp(Mnemonic unit, int fd, int imm5) {
  Instruction made = r_type(unit, fd, 0, 1);
  made.imm = imm5;
  return made;
}
Instruction move(int stored) { return r_type(ld2st, 0, 0, stored, 1); }

/// The loop of gemm and matrix_unit: phases 1, 2, 3, 0, results in f3 and f2 by turns.
std::vector<Instruction> stream(Mnemonic unit) {
  return {nop(),   branch_to(rpt, 1, 0, 36), amp(unit, 3, 1), move(2),         amp(unit, 2, 2),
          move(3), amp(unit, 3, 3),          move(2),         amp(unit, 2, 8), move(3),
          end()};
}

struct Places {
  std::uint32_t x, partials, out, passes;
};

void prepare(Assembled& program, const Places& places, std::uint32_t seed) {
  std::mt19937 source(seed);
  // f16 numbers between 2^-4 and 2^3 in every lane, now and then anything.
  const auto lanes = [&] {
    const bool any = source() % 64 == 0;
    const auto word = static_cast<std::uint32_t>(source());
    return any ? word : (word & 0x8fff'8fffU) + 0x3000'3000U;
  };
  for (std::size_t at = 1024; at < Assembled::kSize; at += 4) program.word(at, lanes());
  for (std::uint64_t& word : program.weights()) word = std::uint64_t{lanes()} << 32 | lanes();
  Context& context = program.context;
  context.x[1] = places.passes;
  context.x[28] = places.x;
  context.x[29] = places.partials;
  context.x[30] = places.out;
  std::memcpy(&context.f[0], program.memory().data() + places.x - 8, 8);
  std::memcpy(&context.f[1], program.memory().data() + places.partials - 8, 8);
  context.f[2] = 0x1234'5678'9abc'def0U;
  context.f[3] = 0x0fed'cba9'8765'4321U;
}

bool same(const Context& a, const Context& b) {
  return std::equal(a.x, a.x + 32, b.x) && std::equal(a.f, a.f + 32, b.f) &&
         std::memcmp(a.acc, b.acc, sizeof(a.acc)) == 0 &&
         std::memcmp(a.exc, b.exc, sizeof(a.exc)) == 0 && a.pc == b.pc && a.fcsr == b.fcsr &&
         a.slots == b.slots && a.instructions == b.instructions && a.flops == b.flops;
}

void compare(Mnemonic unit, const Places& places, std::uint32_t seed) {
  CAPTURE(seed);
  Assembled fused(stream(unit), Role::worker, {}, true);
  Assembled single(stream(unit), Role::worker, {}, false);
  prepare(fused, places, seed);
  prepare(single, places, seed);
  const Exit wanted = single.run();
  const Exit found = fused.run();
  CHECK(found.stop == wanted.stop);
  CHECK(found.fault == wanted.fault);
  CHECK(found.pc == wanted.pc);
  CHECK(found.address == wanted.address);
  CHECK(same(fused.context, single.context));
  CHECK(fused.memory() == single.memory());
}

TEST_SUITE("unit") {
  TEST_CASE("streams past the matrix unit at once are what their instructions do") {
    std::mt19937 source(1);
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
      const std::uint32_t passes = 1 + source() % 20;
      const Mnemonic unit = seed % 2 == 0 ? amp_h : amp_hs;
      compare(unit, {1032, 2056, 3072, passes}, seed);                        // apart
      compare(unit, {1032, 2056, 2056 - 32 - 8 * (seed % 4), passes}, seed);  // in place
      // Anywhere: overlapping, leaving memory, storing into code.
      const auto place = [&] { return 8 + 8 * static_cast<std::uint32_t>(source() % 511); };
      compare(unit, {place(), place(), place(), passes}, seed);
    }
  }

  TEST_CASE("registers that do not hold the words before the stream change nothing") {
    Assembled fused(stream(amp_h), Role::worker, {}, true);
    Assembled single(stream(amp_h), Role::worker, {}, false);
    for (Assembled* each : {&fused, &single}) {
      prepare(*each, {1032, 2056, 3072, 9}, 5);
      each->context.f[0] ^= 1;
      CHECK(each->run().stop == Stop::end_worker);
    }
    CHECK(same(fused.context, single.context));
    CHECK(fused.memory() == single.memory());
    CHECK(fused.context.slots == 1 + 1 + 9 * 4 + 1);
  }
}

}  // namespace
}  // namespace tessera::engine::test
