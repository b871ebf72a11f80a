#include "sim/isa/registers.h"

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
  }

  TEST_CASE("registers of the int8 unit are accumulators, halves of vectors and the mode") {
    const auto halves = [](unsigned first, unsigned count) {
      return ((std::uint64_t{1} << count) - 1) << (RegisterSets::kHalvesAt + first);
    };
    const auto accumulator = [](unsigned number) {
      return std::uint64_t{1} << (RegisterSets::kAccumulatorsAt + number);
    };
    const std::uint64_t mode = std::uint64_t{1} << RegisterSets::kModeAt;
    const auto amp = registers({.mnemonic = Mnemonic::amp_b, .rd = 7, .rs1 = 23, .rs2 = 3});
    CHECK(amp.reads_unit == (accumulator(7) | halves(23, 1) | halves(6, 2)));
    CHECK(amp.writes_unit == accumulator(7));
    CHECK((amp.reads_x | amp.writes_x | amp.reads_f | amp.writes_f) == 0);
    const auto load =
        registers({.mnemonic = Mnemonic::ld8, .rd = 11, .rs1 = 5, .rs2 = 6, .rs3 = 7});
    CHECK(load.writes_unit == halves(22, 2));
    CHECK(load.reads_x == (bit(5) | bit(6) | bit(7)));
    CHECK(load.writes_x == (bit(5) | bit(6)));
    CHECK(registers({.mnemonic = Mnemonic::ld4h, .rd = 9}).writes_unit == halves(9, 1));
    const auto store = registers({.mnemonic = Mnemonic::st_b, .rd = 2, .rs1 = 5, .rs3 = 6});
    CHECK(store.reads_unit == (accumulator(2) | mode));
    CHECK(store.writes_unit == 0);
    CHECK(registers({.mnemonic = Mnemonic::set_b, .rd = 2, .rs1 = 4}).writes_unit ==
          accumulator(2));
    CHECK(registers({.mnemonic = Mnemonic::mode_b, .rs1 = 4}).writes_unit == mode);
    CHECK(registers({.mnemonic = Mnemonic::st4, .rd = 8}).reads_unit == halves(8, 1));
  }

  TEST_CASE("an amp.b pairs with loads over what it reads and stores of other accumulators") {
    const Instruction amp{.mnemonic = Mnemonic::amp_b, .rd = 1, .rs1 = 5, .rs2 = 3};
    const Instruction load{.mnemonic = Mnemonic::ld8, .rd = 2, .rs1 = 5, .rs2 = 6, .rs3 = 7};
    Instruction store{.mnemonic = Mnemonic::st_b, .rd = 0, .rs1 = 5, .rs3 = 6};
    CHECK(may_pair(amp, load));
    CHECK_FALSE(may_pair(load, amp));
    CHECK(may_pair(amp, store));
    store.rd = 1;
    CHECK_FALSE(may_pair(amp, store));
    CHECK(may_pair(store, amp));
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
