#include "sim/isa/registers.h"

#include <initializer_list>

#include <doctest/doctest.h>

using namespace tessera::isa;

namespace {
constexpr std::uint32_t bit(unsigned number) { return 1U << number; }
}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a load with post-increment writes its base") {
    const auto sets = registers({.mnemonic = Mnemonic::fld_p, .rd = 3, .rs1 = 10, .imm = 8});
    CHECK(sets.reads_x == bit(10));
    CHECK(sets.writes_x == bit(10));
    CHECK(sets.reads_f == 0);
    CHECK(sets.writes_f == bit(3));
  }

  TEST_CASE("ld2st reads and advances t3 to t5") {
    const auto sets = registers({.mnemonic = Mnemonic::ld2st, .rd = 1, .rs2 = 2, .rs3 = 3});
    CHECK(sets.reads_x == (bit(28) | bit(29) | bit(30)));
    CHECK(sets.writes_x == sets.reads_x);
    CHECK(sets.reads_f == bit(2));
    CHECK(sets.writes_f == (bit(1) | bit(3)));
  }

  TEST_CASE("ldst reads the register that ld2 writes") {
    const Instruction ldst{.mnemonic = Mnemonic::ldst, .rd = 1, .rs1 = 10, .rs2 = 11, .rs3 = 3};
    Instruction ld2 = ldst;
    ld2.mnemonic = Mnemonic::ld2;
    CHECK(registers(ldst).reads_f == bit(3));
    CHECK(registers(ldst).writes_f == bit(1));
    CHECK(registers(ld2).writes_f == (bit(1) | bit(3)));
    CHECK(registers(ld2).writes_x == (bit(10) | bit(11)));
  }

  TEST_CASE("aligned groups name all their registers") {
    CHECK(registers({.mnemonic = Mnemonic::ld4, .rd = 28, .rs1 = 5}).writes_f == 0xf0000000U);
    CHECK(registers({.mnemonic = Mnemonic::amp_b, .rs1 = 4}).reads_f == 0xf0U);
  }

  TEST_CASE("scatter and run read their rd field") {
    const auto scatter = registers({.mnemonic = Mnemonic::sgx_d, .rd = 7, .rs1 = 1, .rs2 = 2});
    CHECK(scatter.reads_f == bit(7));
    CHECK(scatter.writes_f == 0);
    CHECK(scatter.writes_x == bit(2));
    CHECK(registers({.mnemonic = Mnemonic::run, .rd = 7, .rs1 = 1, .rs2 = 2}).reads_x ==
          (bit(7) | bit(1) | bit(2)));
  }

  TEST_CASE("x0 carries no dependence") {
    const auto sets = registers({.mnemonic = Mnemonic::add, .rd = 0, .rs1 = 0, .rs2 = 4});
    CHECK(sets.reads_x == bit(4));
    CHECK(sets.writes_x == 0);
  }

  TEST_CASE("integer, memory or branch pairs with floating point in either order") {
    const Instruction fma{.mnemonic = Mnemonic::fma_4h, .rd = 1, .rs1 = 2, .rs2 = 3, .rs3 = 1};
    const Instruction load{.mnemonic = Mnemonic::fld_p, .rd = 4, .rs1 = 10};
    const Instruction addi{.mnemonic = Mnemonic::addi, .rd = 5, .rs1 = 5};
    const Instruction bdnz{.mnemonic = Mnemonic::bdnz, .rs1 = 5};
    const Instruction csr{.mnemonic = Mnemonic::csrrs, .rd = 5};
    for (const Instruction& other : {load, addi, bdnz}) {
      CHECK(may_pair(fma, other));
      CHECK(may_pair(other, fma));
    }
    CHECK(!may_pair(fma, fma));
    CHECK(!may_pair(load, addi));
    CHECK(!may_pair(csr, fma));
    CHECK(!may_pair(fma, csr));
  }

  TEST_CASE("read-after-write and write-after-write forbid a pair, write-after-read does not") {
    const Instruction load{.mnemonic = Mnemonic::fld_p, .rd = 4, .rs1 = 10};
    const Instruction reader{.mnemonic = Mnemonic::fadd_s, .rd = 5, .rs1 = 4, .rs2 = 6};
    const Instruction writer{.mnemonic = Mnemonic::fadd_s, .rd = 4, .rs1 = 5, .rs2 = 6};
    CHECK(!may_pair(load, reader));
    CHECK(may_pair(reader, load));
    CHECK(!may_pair(load, writer));
    CHECK(!may_pair(writer, load));
  }

  TEST_CASE("the mask of mask.2s and an advanced address count as writes") {
    const Instruction mask{.mnemonic = Mnemonic::mask_2s, .rd = 10, .rs1 = 4};
    const Instruction user{.mnemonic = Mnemonic::addi, .rd = 11, .rs1 = 10};
    const Instruction load{.mnemonic = Mnemonic::fld_p, .rd = 5, .rs1 = 10};
    const Instruction convert{.mnemonic = Mnemonic::fcvt_s_w, .rd = 6, .rs1 = 10};
    CHECK(!may_pair(mask, user));
    CHECK(!may_pair(mask, load));
    CHECK(!may_pair(load, convert));
    CHECK(may_pair(convert, load));
  }
}
