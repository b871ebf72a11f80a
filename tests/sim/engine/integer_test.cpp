
#include <doctest/doctest.h>

#include "tests/sim/engine/assembled.h"

namespace tessera::engine::test {
namespace {

constexpr std::uint32_t kMin = 0x8000'0000U;
constexpr std::uint32_t kMax = 0x7fff'ffffU;

std::uint32_t of_registers(Mnemonic m, std::uint32_t a, std::uint32_t b) {
  Assembled program({r_type(m, 3, 1, 2), end()});
  program.context.x[1] = a;
  program.context.x[2] = b;
  CHECK(program.run().stop == Stop::end_worker);
  return program.context.x[3];
}
std::uint32_t of_immediate(Mnemonic m, std::uint32_t a, int imm) {
  Assembled program({i_type(m, 3, 1, imm), end()});
  program.context.x[1] = a;
  CHECK(program.run().stop == Stop::end_worker);
  return program.context.x[3];
}

TEST_SUITE("unit") {
  TEST_CASE("integer instructions on two registers follow the manual at the edges") {
    struct Case {
      Mnemonic mnemonic;
      std::uint32_t a, b, result;
    };
    const Case cases[] = {
        {add, ~0U, 1, 0},
        {sub, 0, 1, ~0U},
        {sll, 1, 33, 2},
        {slt, kMin, kMax, 1},
        {slt, kMax, kMin, 0},
        {sltu, kMin, kMax, 0},
        {sltu, 0, ~0U, 1},
        {xor_, 0xff, 0x0f, 0xf0},
        {srl, kMin, 63, 1},
        {sra, kMin, 31, ~0U},
        {or_, 0xf0, 0x0f, 0xff},
        {and_, 0xff, 0x3c, 0x3c},
        {mul, ~0U, ~0U, 1},
        {mulh, kMin, kMin, 0x4000'0000},
        {mulh, ~0U, 1, ~0U},
        {mulhsu, ~0U, ~0U, ~0U},
        {mulhsu, kMin, ~0U, 0x8000'0000},
        {mulhu, ~0U, ~0U, ~1U},
        {div, 7, 0, ~0U},
        {div, kMin, ~0U, kMin},
        {div, static_cast<std::uint32_t>(-7), 2, static_cast<std::uint32_t>(-3)},
        {divu, 7, 0, ~0U},
        {divu, ~0U, 2, kMax},
        {rem, 7, 0, 7},
        {rem, kMin, ~0U, 0},
        {rem, static_cast<std::uint32_t>(-7), 2, ~0U},
        {remu, 7, 0, 7},
        {remu, ~0U, 16, 15},
        {sh1add, 3, 5, 11},
        {sh2add, 0x4000'0001, 5, 9},
        {sh3add, 3, ~0U, 23},
    };
    for (const Case& c : cases) {
      CAPTURE(static_cast<int>(c.mnemonic));
      CHECK(of_registers(c.mnemonic, c.a, c.b) == c.result);
    }
  }

  TEST_CASE("integer instructions on immediates follow the manual at the edges") {
    CHECK(of_immediate(addi, 5, -6) == ~0U);
    CHECK(of_immediate(slti, kMin, -2048) == 1);
    CHECK(of_immediate(sltiu, 5, -1) == 1);
    CHECK(of_immediate(xori, 5, -1) == ~5U);
    CHECK(of_immediate(ori, 0x700, 0xf) == 0x70f);
    CHECK(of_immediate(andi, ~0U, -16) == ~15U);
    CHECK(of_immediate(slli, 3, 31) == kMin);
    CHECK(of_immediate(srli, kMin, 31) == 1);
    CHECK(of_immediate(srai, kMin, 31) == ~0U);
  }

  TEST_CASE("x0 stays zero whatever writes it") {
    Assembled program({i_type(addi, 0, 0, 7), i_type(lw, 0, 0, 64), i_type(lw_p, 0, 0, 4),
                       r_type(fmv_x_w, 0, 1, 0), i_type(csrrs, 0, 0, 0xcc1), i_type(jal, 0, 0, 4),
                       r_type(add, 5, 0, 0), end()});
    program.word(64, 99);
    program.context.f[1] = ~std::uint64_t{0};
    program.context.x[5] = 1;
    CHECK(program.run().stop == Stop::end_worker);
    CHECK(program.context.x[0] == 0);
    CHECK(program.context.x[5] == 0);
  }

  TEST_CASE("lui, auipc and links know their places") {
    Assembled program({i_type(lui, 1, 0, 0x12345000), i_type(auipc, 2, 0, 0x1000),
                       i_type(jal, 3, 0, 8), nop(), i_type(jalr, 4, 3, 13), end(), nop(), end()});
    program.context.x[4] = 0;
    CHECK(program.run().stop == Stop::end_worker);
    CHECK(program.context.x[1] == 0x12345000);
    CHECK(program.context.x[2] == 0x1004);
    CHECK(program.context.x[3] == 12);
    CHECK(program.context.x[4] == 20);  // 12 + 13 with bit 0 cleared: address 24
    CHECK(program.context.pc == 32);
  }

  TEST_CASE("every conditional branch is taken exactly when its condition holds") {
    const auto is_taken = [](Mnemonic m, std::uint32_t a, std::uint32_t b) {
      Assembled program({branch_to(m, 1, 2, 8), i_type(addi, 3, 0, 1), end()});
      program.context.x[1] = a;
      program.context.x[2] = b;
      CHECK(program.run().stop == Stop::end_worker);
      return program.context.x[3] == 0;
    };
    const std::uint32_t values[] = {0, 1, kMax, kMin, ~0U};
    for (const std::uint32_t a : values) {
      for (const std::uint32_t b : values) {
        const auto sa = static_cast<std::int32_t>(a);
        const auto sb = static_cast<std::int32_t>(b);
        CHECK(is_taken(beq, a, b) == (a == b));
        CHECK(is_taken(bne, a, b) == (a != b));
        CHECK(is_taken(blt, a, b) == (sa < sb));
        CHECK(is_taken(bge, a, b) == (sa >= sb));
        CHECK(is_taken(bltu, a, b) == (a < b));
        CHECK(is_taken(bgeu, a, b) == (a >= b));
      }
    }
  }

  TEST_CASE("bdnz counts down and leaves at zero") {
    Assembled program({i_type(addi, 2, 2, 1), branch_to(bdnz, 1, 0, -4), end()});
    program.context.x[1] = 5;
    CHECK(program.run().stop == Stop::end_worker);
    CHECK(program.context.x[1] == 0);
    CHECK(program.context.x[2] == 5);
  }
}

}  // namespace
}  // namespace tessera::engine::test
