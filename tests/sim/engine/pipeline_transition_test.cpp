#include <doctest/doctest.h>

#include "sim/isa/registers.h"
#include "tests/sim/engine/random_path.h"

namespace tessera::engine::test {
namespace {

constexpr int kBase = 10;  // register
constexpr std::uint32_t kData = 3584;

TileConfig single() { return TileConfig{.contexts = 1, .issue = IssueKind::single}; }

/// A random pipeline; every third one has a single context.
TileConfig random_core(std::uint32_t seed) {
  TileConfig tile = random_pipeline(seed);
  tile.contexts = seed % 3 == 0 ? 1 : 1 + seed % 7;
  if (seed % 3 == 0) tile.issue = IssueKind::single;
  return tile;
}

/// Checks that a worker takes the slots that the plain model computes for its path.
void check_account(const RandomPath& random, const TileConfig& tile, bool counted) {
  Assembled program(random.code, Role::worker, tile, counted);
  program.context.x[kBase] = kData;
  CHECK(program.run().stop == Stop::end_worker);
  PlainContext plain(random.path, tile, tile.contexts);
  std::vector<std::uint64_t> units(5);
  while (!plain.done()) plain.issue(plain.ready(units), units);
  CHECK(program.context.slots == plain.end());
  CHECK(program.context.instructions == random.path.size());
}

TEST_SUITE("timing") {
  TEST_CASE("a use waits until the latency of what it uses has passed, and no longer") {
    TileConfig tile = single();
    tile.latency.load = 4;
    const Instruction load = i_type(lw, 5, kBase, 0);
    const Instruction use = r_type(add, 6, 5, 5);
    CHECK(slots_of({load, use}, tile) == 4 + 1);
    CHECK(slots_of({load, nop(), use}, tile) == 4 + 1);
    CHECK(slots_of({load, nop(), nop(), use}, tile) == 4 + 1);         // blocked at t - 1
    CHECK(slots_of({load, nop(), nop(), nop(), use}, tile) == 4 + 1);  // ready at t
    CHECK(slots_of({load, nop(), nop(), nop(), nop(), use}, tile) == 5 + 1);
    CHECK(slots_of({load, nop()}, tile) == 2);
    // The pointer that a load advances has the latency of an integer result.
    CHECK(slots_of({i_type(lw_p, 5, kBase, 4), r_type(add, 6, kBase, kBase)}, tile) == 2);
  }

  TEST_CASE("results are still under way behind a jump, in a loop and after it") {
    TileConfig tile = single();
    tile.latency.f32_add = 7;
    const Instruction sum = r_type(fadd_s, 1, 1, 2);
    CHECK(slots_of({sum, i_type(jal, 0, 0, 4), sum}, tile) == 7 + 1);
    Assembled loop({branch_to(rpt, 5, 0, 8), sum, sum, end()}, Role::worker, tile);
    loop.context.x[5] = 1000;
    CHECK(loop.run().stop == Stop::end_worker);
    CHECK(loop.context.slots == 1 + 1000 * 7 + 1 + 1);
    CHECK(loop.context.waits[static_cast<int>(Cause::arithmetic)] == 1000 * 6);
  }

  TEST_CASE("a supervisor's results come while it does other things") {
    TileConfig tile = single();
    tile.latency.load = 9;
    Assembled program({i_type(lw, 5, kBase, 0), i_type(xctl, 0, 0, 1), r_type(add, 6, 5, 5),
                       r_type(ecall, 0, 0, 0)},
                      Role::supervisor, tile);
    program.context.x[kBase] = kData;
    CHECK(program.run().stop == Stop::join);
    program.context.base_cycle += 5;
    CHECK(program.run().stop == Stop::environment_call);
    CHECK(program.context.base_cycle + program.context.slots == 9 + 1 + 1);
  }

  TEST_CASE("slots of random programs are those of a plain scoreboard") {
    for (std::uint32_t seed = 0; seed < 400; ++seed) {
      CAPTURE(seed);
      check_account(PathMaker(seed).make(60), random_core(seed), seed % 2 == 0);
    }
  }

  TEST_CASE("the int8 unit's registers and sums wait as the plain account says") {
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
      CAPTURE(seed);
      TileConfig tile = random_pipeline(seed);
      tile.matrix_unit.i8.outputs = 8;
      tile.matrix_unit.i16.outputs = 4;
      tile.matrix_unit.bf16.outputs = 4;
      tile.latency.matrix = 1 + seed % 9;
      tile.load_bytes_per_slot = 64;
      tile.store_bytes_per_slot = 32;
      tile.contexts = 1 + seed % 3;
      if (tile.contexts == 1) tile.issue = IssueKind::single;
      check_account(PathMaker(seed).with_integers().make(60), tile, seed % 2 == 0);
    }
  }

  TEST_CASE("dual issue takes no more slots than single issue") {
    std::size_t fewer = 0;
    for (std::uint32_t seed = 0; seed < 1000; ++seed) {
      CAPTURE(seed);
      TileConfig tile = random_core(seed);
      const RandomPath random = PathMaker(seed).make(60);
      const auto slots = [&](bool dual_issue) {
        tile.dual_issue = dual_issue;
        Assembled program(random.code, Role::worker, tile);
        program.context.x[kBase] = kData;
        CHECK(program.run().stop == Stop::end_worker);
        return program.context.slots;
      };
      const std::uint64_t apart = slots(false);
      const std::uint64_t together = slots(true);
      CHECK(together <= apart);
      fewer += together < apart ? 1 : 0;
    }
    CHECK(fewer > 500);
  }

  TEST_CASE("waits, issues and pairs make up all slots") {
    for (std::uint32_t seed = 0; seed < 50; ++seed) {
      TileConfig tile = random_pipeline(seed);
      tile.slots = {};
      tile.contexts = 2;
      const RandomPath random = PathMaker(seed).make(80);
      Assembled program(random.code, Role::worker, tile);
      program.context.x[kBase] = kData;
      CHECK(program.run().stop == Stop::end_worker);
      std::uint64_t waits = 0;
      for (const std::uint64_t each : program.context.waits) waits += each;
      const Context& context = program.context;
      CHECK(context.instructions - context.pairs + waits == context.slots);
    }
  }
}

}  // namespace
}  // namespace tessera::engine::test
