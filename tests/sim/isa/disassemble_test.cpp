#include "sim/isa/disassemble.h"

#include <doctest/doctest.h>

using namespace tessera::isa;

TEST_SUITE("unit") {
  TEST_CASE("base instructions read like the manual's assembly") {
    CHECK(disassemble(0x00c58533U, 0) == "add a0, a1, a2");
    CHECK(disassemble(0xffc5a503U, 0) == "lw a0, -4(a1)");
    CHECK(disassemble(0xfffff3b7U, 0) == "lui t2, 1048575");
    CHECK(disassemble(0x00000013U, 0) == "addi zero, zero, 0");
    CHECK(disassemble(0x0330000fU, 0) == "fence rw, rw");
    CHECK(disassemble(0x00000073U, 0) == "ecall");
  }

  TEST_CASE("targets are absolute addresses") {
    CHECK(disassemble(0xfe000ee3U, 0x1000) == "beq zero, zero, 0xffc");
    CHECK(disassemble(0x008000efU, 0x1000) == "jal ra, 0x1008");
    CHECK(disassemble(Instruction{.mnemonic = Mnemonic::bdnz, .rs1 = 5, .imm = -16}, 0x20) ==
          "bdnz t0, 0x10");
  }

  TEST_CASE("only a rounding mode of the instruction's own is shown") {
    CHECK(disassemble(0x00c5f553U, 0) == "fadd.s fa0, fa1, fa2");
    CHECK(disassemble(0x00c59553U, 0) == "fadd.s fa0, fa1, fa2, rtz");
    CHECK(disassemble(0xc0051553U, 0) == "fcvt.w.s a0, fa0, rtz");
  }

  TEST_CASE("known CSRs have names, others numbers") {
    CHECK(disassemble(0x00102573U, 0) == "csrrs a0, fflags, zero");
    CHECK(disassemble(0xcc002573U, 0) == "csrrs a0, 0xcc0, zero");
    CHECK(disassemble(0x0022d073U, 0) == "csrrwi zero, frm, 5");
  }

  TEST_CASE("other words are shown as words") {
    CHECK(disassemble(0U, 0) == ".word 0x00000000");
    CHECK(disassemble(0x02c5f553U, 0) == ".word 0x02c5f553");
  }
}
