#include "models/tile/tile_fault.h"

#include <doctest/doctest.h>

#include "sim/program/kernel_run.h"
#include "tests/models/tile/lone_tile.h"
#include "tests/refusal.h"

using namespace tessera;

TEST_SUITE("unit") {
  TEST_CASE("a fault is the user's mistake, but of a kernel's program a bug of ours") {
    const auto faults = []() -> int { throw UserError("tile 5, worker 2: misaligned access"); };
    CHECK_THROWS_AS(faults(), UserError);
    CHECK_THROWS_WITH_AS(program::run_of_kernel(faults), "tile 5, worker 2: misaligned access",
                         Defect);
    CHECK(program::run_of_kernel([] { return 7; }) == 7);
    CHECK_THROWS_AS(program::run_of_kernel([]() -> int { throw NoProgress("stuck"); }), NoProgress);
  }

  TEST_CASE("a worker's fault names tile, context, pc, instruction, address and codelet") {
    LoneTile tile;
    const std::uint32_t worker = tile.touching_worker(0x101, 0, 0);
    tile.supervisor();
    tile.run(worker, 2);
    tile.end();
    const std::string message = tile.fault();
    test::check_holds(message,
                      {"tile 5, worker 2: misaligned access at address 0x101", "(touching): lw"});
  }

  TEST_CASE("the supervisor's fault says so") {
    LoneTile tile;
    tile.supervisor();
    tile.code().emit({.mnemonic = isa::Mnemonic::lui, .rd = 5, .imm = 0x10000});
    tile.code().emit({.mnemonic = isa::Mnemonic::lw, .rd = 6, .rs1 = 5});
    const std::string message = tile.fault();
    test::check_holds(
        message, {"tile 5, supervisor: access outside of SRAM at address 0x10000", "(main): lw"});
  }

  TEST_CASE("instructions for missing parts of the machine fault") {
    struct Case {
      const char* message;
      std::function<void(LoneTile&, std::uint32_t)> body;
    };
    const Case cases[] = {
        {"run of worker 6, allowed 0 to 5 or -1",
         [](LoneTile& t, std::uint32_t w) { t.run(w, 6); }},
        {"run.block 47, blocks of 256 x 64 that the matrix unit cannot take",
         [](LoneTile& t, std::uint32_t w) { t.run_block(w, 47); }},
        {"sync of zone 3, allowed 0 to 0",
         [](LoneTile& t, std::uint32_t) { t.code().control(19); }},
        {"wait without an exchange started",
         [](LoneTile& t, std::uint32_t) { t.code().wait_for_exchange(LoneTile::Reg::zero); }},
        {"an exchange started again before it was waited for",
         [](LoneTile& t, std::uint32_t) {
           t.code().start_exchange(LoneTile::Reg::a0);
           t.code().start_exchange(LoneTile::Reg::a0);
         }},
        {"ldcw while workers run",
         [](LoneTile& t, std::uint32_t w) {
           t.run(w, 1);
           t.code().emit({.mnemonic = isa::Mnemonic::ldcw, .imm = 0});
         }},
        {"misaligned access at address 0x4",
         [](LoneTile& t, std::uint32_t) {
           t.code().load_immediate(LoneTile::Reg::t0, 4);
           t.code().emit({.mnemonic = isa::Mnemonic::ldcw, .rs1 = 5, .imm = 0});
         }},
        {"ldcw beyond the last weight word",
         [](LoneTile& t, std::uint32_t) {
           t.code().emit({.mnemonic = isa::Mnemonic::ldcw, .imm = (7 << 6) | 60});
         }},
        {"ecall, which only bare programs have",
         [](LoneTile& t, std::uint32_t) { t.code().emit({.mnemonic = isa::Mnemonic::ecall}); }},
    };
    for (const Case& c : cases) {
      LoneTile tile;
      const std::uint32_t worker = tile.idle_worker(50);
      tile.supervisor();
      c.body(tile, worker);
      tile.end();
      test::check_holds(tile.fault(), {c.message});
    }
  }

  TEST_CASE("a worker may not do what a supervisor does") {
    LoneTile tile;
    const std::uint32_t worker = tile.code().here();
    tile.join();
    tile.supervisor();
    tile.run(worker, 0);
    tile.end();
    test::check_holds(tile.fault(), {"tile 5, worker 0: instruction not allowed in this context"});
  }

  TEST_CASE("an endless supervisor and an endless worker stop at the cycle limit") {
    LoneTile supervisor;
    supervisor.limit(Cycle(1000));
    supervisor.supervisor();
    supervisor.code().emit({.mnemonic = isa::Mnemonic::jal, .imm = 0});
    Arrival arrival = run_ahead(supervisor.tile());
    CHECK(arrival.kind == Arrival::Kind::limit);
    CHECK(arrival.at >= Cycle(1000));
    CHECK(arrival.at < Cycle(1100));

    LoneTile worker;
    worker.limit(Cycle(1000));
    const std::uint32_t code = worker.code().here();
    worker.code().emit({.mnemonic = isa::Mnemonic::jal, .imm = 0});
    worker.supervisor();
    worker.run_to_end(code, 4);
    arrival = run_ahead(worker.tile());
    CHECK(arrival.kind == Arrival::Kind::limit);
    REQUIRE(worker.loaded().workers() != nullptr);
    test::check_holds(worker.loaded().workers()->endless(), {"worker 4 running at cycle 1"});
  }
}
