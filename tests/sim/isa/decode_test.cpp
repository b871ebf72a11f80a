#include "sim/isa/decode.h"

#include <cstdint>
#include <random>

#include <doctest/doctest.h>

#include "sim/base/errors.h"
#include "sim/isa/encode.h"
#include "sim/isa/table.h"

using namespace tessera::isa;

namespace {

// Operand fields of all formats as (lowest bit, bits).
struct Window {
  unsigned low, bits;
};
constexpr Window kWindows[] = {{7, 5}, {12, 3}, {15, 5}, {20, 5}, {25, 7}, {20, 12}, {12, 8}};

// True if a field of `word` names a vector register above 11 or a half above 23.
bool names_missing(std::uint32_t word, Mnemonic mnemonic) {
  for (const Operand& operand : info(mnemonic).operands) {
    const unsigned low = operand.field == Field::rd ? 7 : operand.field == Field::rs1 ? 15 : 20;
    const std::uint32_t number = word >> low & 31U;
    if (operand.shape == Shape::vector && number >= 12) return true;
    if (operand.shape == Shape::half && number >= 24) return true;
  }
  return false;
}

// Decodes `word`, checks that the result is `mnemonic` (or that the rounding mode is reserved), and
// encodes it back.
bool round_trips(std::uint32_t word, Mnemonic mnemonic) {
  const auto instruction = decode(word);
  const InstructionInfo& line = info(mnemonic);
  const bool has_rm =
      (line.format == Format::r || line.format == Format::r4) && (line.mask & 0x7000U) == 0;
  const std::uint32_t rm = (word >> 12) & 7U;
  if (has_rm && (rm == 5 || rm == 6)) return !instruction;
  if (uses_integer_unit(mnemonic) && !instruction) return names_missing(word, mnemonic);
  return instruction && instruction->mnemonic == mnemonic && encode(*instruction) == word;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("every value of every field of every mnemonic decodes and encodes back") {
    std::mt19937 random(1);
    for (std::size_t i = 0; i < kMnemonics; ++i) {
      const auto mnemonic = static_cast<Mnemonic>(i);
      const InstructionInfo& line = info(mnemonic);
      INFO(line.mnemonic);
      bool all = true;
      for (const Window window : kWindows) {
        for (std::uint32_t value = 0; value < 1U << window.bits; ++value) {
          const std::uint32_t field = ((1U << window.bits) - 1U) << window.low;
          const std::uint32_t others = static_cast<std::uint32_t>(random()) & ~field;
          const std::uint32_t operands = (others | value << window.low) & ~line.mask;
          all = all && round_trips(line.match | operands, mnemonic);
        }
      }
      CHECK(all);
    }
  }

  TEST_CASE("ten million words decode to nothing or encode back to themselves") {
    std::mt19937 random(2);
    std::uint32_t known = 0;
    std::uint32_t different = 0;
    for (int i = 0; i < 10'000'000; ++i) {
      const std::uint32_t word = static_cast<std::uint32_t>(random()) | 3U;
      const auto instruction = decode(word);
      if (!instruction) continue;
      ++known;
      if (encode(*instruction) != word) ++different;
    }
    CHECK(different == 0);
    CHECK(known > 1'000'000);
  }

  TEST_CASE("fields carry the numbers that the manual gives them") {
    // beq x1, x2, -4096; jal x1, -1048576; sw x5, -2048(x6); lui x7, 0xfffff
    CHECK(decode(0x80208063) ==
          Instruction{.mnemonic = Mnemonic::beq, .rs1 = 1, .rs2 = 2, .imm = -4096});
    CHECK(decode(0x800000ef) == Instruction{.mnemonic = Mnemonic::jal, .rd = 1, .imm = -1048576});
    CHECK(decode(0x80532023) ==
          Instruction{.mnemonic = Mnemonic::sw, .rs1 = 6, .rs2 = 5, .imm = -2048});
    CHECK(decode(0xfffff3b7) == Instruction{.mnemonic = Mnemonic::lui, .rd = 7, .imm = -4096});
    CHECK(decode(0x41f0d093) ==
          Instruction{.mnemonic = Mnemonic::srai, .rd = 1, .rs1 = 1, .imm = 31});
    CHECK(decode(0xcc0ff0f3) ==
          Instruction{.mnemonic = Mnemonic::csrrci, .rd = 1, .rs1 = 31, .imm = 0xcc0});
    CHECK(decode(0xd0157553) ==
          Instruction{.mnemonic = Mnemonic::fcvt_s_wu, .rd = 10, .rs1 = 10, .rm = 7});
  }

  TEST_CASE("reserved words are unknown") {
    CHECK(!decode(0x00000000));
    CHECK(!decode(0xffffffff));
    CHECK(!decode(0x00c5d553));  // fadd.s with rounding mode 5
    CHECK(!decode(0x00c5e553));  // fadd.s with rounding mode 6
    CHECK(!decode(0x02c5f553));  // fadd.d
    CHECK(!decode(0x42058553));  // fcvt.d.s
    CHECK(!decode(0x0000100f));  // fence.i
    CHECK(!decode(0x02051513));  // slli with a sixth shift bit
    CHECK(!decode(0x30200073));  // mret
  }

  TEST_CASE("operands that do not fit are our own bug") {
    CHECK_THROWS_AS(encode({.mnemonic = Mnemonic::addi, .rd = 1, .imm = 2048}), tessera::Defect);
    CHECK_THROWS_AS(encode({.mnemonic = Mnemonic::beq, .imm = 3}), tessera::Defect);
    CHECK_THROWS_AS(encode({.mnemonic = Mnemonic::add, .rd = 32}), tessera::Defect);
    CHECK_THROWS_AS(encode({.mnemonic = Mnemonic::add, .rd = 1, .rm = 1}), tessera::Defect);
    CHECK_THROWS_AS(encode({.mnemonic = Mnemonic::ld4, .rd = 2}), tessera::Defect);
    CHECK_THROWS_AS(encode({.mnemonic = Mnemonic::fadd_s, .rm = 5}), tessera::Defect);
  }
}
