#include <doctest/doctest.h>

#include "tests/sim/engine/assembled.h"

namespace tessera::engine::test {
namespace {

struct Expected {
  Fault fault;
  std::uint32_t pc;
  std::uint32_t address;
  std::uint64_t instructions;
};

void check_fault(Assembled& program, const Expected& expected) {
  const Exit exit = program.run();
  CHECK(exit.stop == Stop::fault);
  CHECK(exit.fault == expected.fault);
  CHECK(exit.pc == expected.pc);
  CHECK(program.context.pc == expected.pc);
  CHECK(exit.address == expected.address);
  CHECK(program.context.instructions == expected.instructions);
  CHECK(program.context.slots == expected.instructions);
}

TEST_SUITE("unit") {
  TEST_CASE("a misaligned or outside access names its address and leaves exact counts") {
    Assembled misaligned({nop(), nop(), i_type(lw, 5, 1, 2), nop(), end()});
    misaligned.context.x[1] = 64;
    misaligned.context.x[5] = 77;
    check_fault(misaligned, {Fault::misaligned, 8, 66, 2});
    CHECK(misaligned.context.x[5] == 77);

    Assembled outside({nop(), i_type(fld, 5, 1, 0), end()});
    outside.context.x[1] = Assembled::kSize;
    check_fault(outside, {Fault::out_of_range, 4, Assembled::kSize, 1});

    Assembled wrapped({i_type(lbu, 5, 0, -1), end()});
    check_fault(wrapped, {Fault::out_of_range, 0, ~0U, 0});

    Assembled store({s_type(sh, 5, 1, 1), end()});
    store.context.x[1] = 64;
    check_fault(store, {Fault::misaligned, 0, 65, 0});
  }

  TEST_CASE("the last bytes of memory can be used, the first beyond cannot") {
    Assembled last({s_type(sw, 5, 1, -4), i_type(lw, 6, 1, -4), s_type(sb, 5, 1, 0), end()});
    last.context.x[1] = Assembled::kSize;
    last.context.x[5] = 123;
    check_fault(last, {Fault::out_of_range, 8, Assembled::kSize, 2});
    CHECK(last.context.x[6] == 123);
  }

  TEST_CASE("stores into code fault, up to its exact end") {
    // Three instructions: code ends at 12, which is not a multiple of 8.
    Assembled code({s_type(sw, 0, 1, 0), s_type(sw, 0, 1, -4), end()});
    code.context.x[1] = 12;
    check_fault(code, {Fault::write_to_code, 4, 8, 1});
    CHECK(code.word(12) == 0);
  }

  TEST_CASE("a fault in the middle of a pair names the access and counts the slot begun") {
    Assembled program({r_type(fadd_s, 1, 2, 3), i_type(lw, 5, 0, 1), end()});
    check_fault(program, {Fault::misaligned, 4, 1, 1});
  }

  TEST_CASE("a fault in a loop counts the passes before it") {
    Assembled program(
        {branch_to(rpt, 1, 0, 12), i_type(lw_p, 5, 2, 4), i_type(addi, 3, 3, 1), end()});
    program.context.x[1] = 100;
    program.context.x[2] = Assembled::kSize - 12;
    check_fault(program, {Fault::out_of_range, 4, Assembled::kSize, 1 + 3 * 2});
    CHECK(program.context.x[3] == 3);
  }

  TEST_CASE("a fault after taken branches counts all of them") {
    Assembled program(
        {i_type(addi, 2, 2, 4), i_type(lw, 5, 2, 0), branch_to(bne, 1, 0, -8), end()});
    program.context.x[1] = 1;
    program.context.x[2] = Assembled::kSize - 8;
    check_fault(program, {Fault::out_of_range, 4, Assembled::kSize, 4});
  }

  TEST_CASE("unknown words, missing units and forbidden instructions are faults") {
    Assembled unknown({nop(), nop(), end()});
    unknown.word(4, 0xffff'ffffU);
    Assembled fresh({nop(), nop()});
    fresh.word(4, 0);
    // Words are decoded when the code is made, so these two still hold nops.
    CHECK(unknown.run().stop == Stop::end_worker);
    check_fault(fresh, {Fault::out_of_range, 8, 0, 2});

    Assembled no_unit({i_type(amp_b, 0, 4, 0), end()});
    check_fault(no_unit, {Fault::illegal_instruction, 0, 0, 0});
    Assembled join({nop(), i_type(xctl, 0, 0, 1)});
    check_fault(join, {Fault::not_allowed_here, 4, 0, 1});
    Assembled trap({nop(), r_type(ebreak, 0, 0, 0)});
    check_fault(trap, {Fault::breakpoint, 4, 0, 1});
    Assembled csr({nop(), i_type(csrrw, 1, 1, 0xc00)});
    check_fault(csr, {Fault::illegal_instruction, 4, 0, 1});
    Assembled no_csr({nop(), i_type(csrrs, 1, 0, 0x7c0)});
    check_fault(no_csr, {Fault::illegal_instruction, 4, 0, 1});
  }

  TEST_CASE("jumps to odd words fault at the jump, jumps out of the code at their target") {
    Assembled odd({nop(), i_type(jalr, 1, 2, 0), end()});
    odd.context.x[2] = 6;
    check_fault(odd, {Fault::misaligned, 4, 6, 1});
    CHECK(odd.context.x[1] == 0);
    Assembled branch({nop(), branch_to(beq, 0, 0, 6), end()});
    check_fault(branch, {Fault::misaligned, 4, 10, 1});
    Assembled away({i_type(jalr, 1, 2, 0), end()});
    away.context.x[2] = 0x1000'0000;
    check_fault(away, {Fault::out_of_range, 0x1000'0000, 0, 1});
    Assembled nowhere({end()});
    nowhere.context.pc = 2;
    check_fault(nowhere, {Fault::out_of_range, 2, 0, 0});
  }

  TEST_CASE("loops without passes, with branches or beyond the code are bad") {
    Assembled none({nop(), branch_to(rpt, 1, 0, 8), nop(), end()});
    check_fault(none, {Fault::bad_loop, 4, 0, 1});
    for (const Instruction& body : {branch_to(beq, 0, 0, 4), i_type(jal, 0, 0, 4), end(),
                                    branch_to(rpt, 1, 0, 8), i_type(csrrs, 1, 0, 0xcc0)}) {
      Assembled bad({branch_to(rpt, 1, 0, 8), body, end()});
      bad.context.x[1] = 1;
      check_fault(bad, {Fault::bad_loop, 0, 0, 0});
    }
    Assembled backwards({nop(), branch_to(rpt, 1, 0, -4), end()});
    check_fault(backwards, {Fault::bad_loop, 4, 0, 1});
    Assembled beyond({branch_to(rpt, 1, 0, 64), end()});
    check_fault(beyond, {Fault::bad_loop, 0, 0, 0});
  }

  TEST_CASE("an invalid dynamic rounding mode is illegal, a named one is not") {
    Assembled dynamic({r_type(fadd_s, 1, 2, 3, 0, 7), end()});
    dynamic.context.fcsr = 5U << 5;
    check_fault(dynamic, {Fault::illegal_instruction, 0, 0, 0});
    Assembled named({r_type(fadd_s, 1, 2, 3, 0, 1), end()});
    named.context.fcsr = 5U << 5;
    CHECK(named.run().stop == Stop::end_worker);
  }
}

}  // namespace
}  // namespace tessera::engine::test
