#include <doctest/doctest.h>

#include "tests/sim/engine/assembled.h"

namespace tessera::engine::test {
namespace {

const Instruction kFloat = r_type(fadd_s, 1, 2, 3);
const Instruction kOtherFloat = r_type(fadd_s, 4, 5, 6);
const Instruction kInteger = i_type(addi, 1, 1, 1);

std::uint64_t cycles_of(std::vector<Instruction> body) {
  body.push_back(r_type(ecall, 0, 0, 0));
  Assembled program(body, Role::supervisor);
  for (int i = 1; i < 32; ++i) program.context.x[i] = 64;
  CHECK(program.run().stop == Stop::environment_call);
  return program.context.slots - 1;
}

TEST_SUITE("timing") {
  TEST_CASE("an aligned pair without a dependence takes one slot") {
    CHECK(slots_of({kInteger, kFloat}) == 1);
    CHECK(slots_of({kFloat, kInteger}) == 1);
    CHECK(slots_of({kInteger, kInteger}) == 2);
    CHECK(slots_of({kFloat, kOtherFloat}) == 2);
  }

  TEST_CASE("a pair that is not aligned takes two slots") {
    CHECK(slots_of({kInteger, kInteger, kFloat}) == 3);
    CHECK(slots_of({nop(), kFloat, kInteger, kFloat}) == 2);
  }

  TEST_CASE("a dependence inside the pair forbids it, write after read does not") {
    CHECK(slots_of({i_type(flw, 2, 0, 64), kFloat}) == 2);       // read after write
    CHECK(slots_of({i_type(flw, 1, 0, 64), kFloat}) == 2);       // write after write
    CHECK(slots_of({s_type(fsw, 1, 0, 64), kFloat}) == 1);       // write after read
    CHECK(slots_of({r_type(mask_2s, 1, 2, 0), kInteger}) == 2);  // through an x register
    CHECK(slots_of({kFloat, r_type(fmv_w_x, 7, 1, 0)}) == 2);    // both are floating-point
  }

  TEST_CASE("a machine without dual issue takes a slot each") {
    TileConfig tile{.dual_issue = false};
    CHECK(slots_of({kInteger, kFloat}, tile) == 2);
  }

  TEST_CASE("entering a pair at its second half takes a slot for that half") {
    Assembled program({i_type(jal, 0, 0, 12), nop(), nop(), kFloat, end()});
    CHECK(program.run().stop == Stop::end_worker);
    CHECK(program.context.slots == 3);
    CHECK(program.context.instructions == 3);
  }

  TEST_CASE("an access wider than the port takes several slots") {
    TileConfig tile;
    const Instruction wide = r_type(ld2, 1, 1, 2, 3);
    CHECK(slots_of({wide, nop()}, tile) == 2);
    tile.load_bytes_per_slot = 8;
    CHECK(slots_of({wide, nop()}, tile) == 3);
    tile.load_bytes_per_slot = 4;
    CHECK(slots_of({wide, nop()}, tile) == 5);
    tile.store_bytes_per_slot = 4;
    CHECK(slots_of({s_type(fsd, 1, 0, 64), nop()}, tile) == 3);
  }

  TEST_CASE("the instruction after a taken branch is as late as the machine states") {
    TileConfig tile{.contexts = 1, .issue = IssueKind::single};
    tile.latency.branch_taken = 4;
    CHECK(slots_of({branch_to(bne, 0, 0, 8), nop()}, tile) == 2);
    Assembled taken({branch_to(beq, 0, 0, 8), nop(), end()}, Role::worker, tile);
    CHECK(taken.run().stop == Stop::end_worker);
    CHECK(taken.context.slots == 4 + 1);
    CHECK(taken.context.instructions == 2);
  }

  TEST_CASE("rpt takes a slot, and its body as often as it runs") {
    Assembled program({nop(), branch_to(rpt, 1, 0, 12), kInteger, kFloat, end()});
    program.context.x[1] = 10;
    CHECK(program.run().stop == Stop::end_worker);
    CHECK(program.context.slots == 1 + 1 + 10 * 1 + 1);
    CHECK(program.context.instructions == 2 + 20 + 1);
    CHECK(program.context.flops == 10);
  }

  TEST_CASE("a supervisor waits where the next instruction reads what was loaded") {
    const Instruction load = i_type(lw, 2, 0, 64);
    CHECK(cycles_of({load, nop()}) == 2);
    CHECK(cycles_of({load, r_type(add, 3, 2, 2)}) == 2 + 5);
    CHECK(cycles_of({load, nop(), r_type(add, 3, 2, 2)}) == 3);
    CHECK(cycles_of({i_type(flw, 2, 0, 64), kFloat}) == 2 + 5);
    // The advanced pointer is available immediately.
    CHECK(cycles_of({i_type(lw_p, 2, 3, 4), r_type(add, 4, 3, 3)}) == 2);
    CHECK(cycles_of({i_type(flw_p, 3, 3, 4), r_type(add, 4, 3, 3)}) == 2);
  }

  TEST_CASE("a supervisor pays for taken branches and never pairs") {
    CHECK(cycles_of({kInteger, kFloat}) == 2);
    CHECK(cycles_of({branch_to(bne, 0, 0, 8), nop()}) == 2);
    CHECK(cycles_of({branch_to(beq, 0, 0, 4), nop()}) == 7);
    CHECK(cycles_of({i_type(jal, 0, 0, 4), nop()}) == 7);
  }

  TEST_CASE("a supervisor's loop waits in every pass but the first") {
    Assembled program({branch_to(rpt, 1, 0, 12), r_type(add, 3, 2, 2), i_type(lw, 2, 0, 64),
                       r_type(ecall, 0, 0, 0)},
                      Role::supervisor);
    program.context.x[1] = 4;
    CHECK(program.run().stop == Stop::environment_call);
    CHECK(program.context.slots == 1 + 4 * 2 + 3 * 5 + 1);
  }

  TEST_CASE("arithmetic takes its slots once for every so many lanes") {
    TileConfig tile{.dual_issue = false};
    tile.slots.float_add = 3;
    tile.slots.float_multiply = 5;
    tile.slots.float_fma = 7;
    CHECK(slots_of({r_type(fma_4h, 1, 2, 3, 4), r_type(add_2s, 1, 2, 3)}, tile) == 7 + 3);
    tile.slots.float_lanes = 2;
    CHECK(slots_of({r_type(fma_4h, 1, 2, 3, 4), r_type(mul_2s, 1, 2, 3)}, tile) == 14 + 5);
    tile.slots.float_lanes = 1;
    CHECK(slots_of({r_type(mul_4h, 1, 2, 3), r_type(fmadd_s, 1, 2, 3, 4)}, tile) == 20 + 7);
    CHECK(slots_of({r_type(fsgnj_s, 1, 2, 3), kInteger}, tile) == 2);
  }

  TEST_CASE("instructions that the machine executes take no slots") {
    Assembled program({i_type(xctl, 0, 0, 1)}, Role::supervisor);
    CHECK(program.run().stop == Stop::join);
    CHECK(program.context.slots == 0);
    CHECK(program.context.instructions == 1);
    CHECK(program.context.pc == 4);
  }

  TEST_CASE("cycle and instret count what came before") {
    TileConfig tile{.contexts = 6};
    Assembled program(
        {nop(), kFloat, nop(), i_type(csrrs, 5, 0, 0xc00), i_type(csrrs, 6, 0, 0xc02), end()},
        Role::worker, tile);
    program.context.base_cycle = 1000;
    CHECK(program.run().stop == Stop::end_worker);
    CHECK(program.context.x[5] == 1000 + 6 * 2);
    CHECK(program.context.x[6] == 4);
  }
}

}  // namespace
}  // namespace tessera::engine::test
