#include "sim/isa/table.h"

#include <cstdint>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "sim/isa/decode.h"
#include "sim/isa/encode.h"

using namespace tessera::isa;

TEST_SUITE("unit") {
  TEST_CASE("no two lines of the table match one word") {
    for (std::size_t a = 0; a < kMnemonics; ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        const std::uint32_t both = kTable[a].mask & kTable[b].mask;
        INFO(kTable[a].mnemonic, " and ", kTable[b].mnemonic);
        CHECK(((kTable[a].match ^ kTable[b].match) & both) != 0);
      }
    }
  }

  TEST_CASE("every line's match lies within its mask") {
    for (const InstructionInfo& line : kTable) {
      INFO(line.mnemonic);
      CHECK((line.match & ~line.mask) == 0);
      CHECK((line.match & 3U) == 3U);
    }
  }

  TEST_CASE("mnemonics are unique and explained") {
    std::set<std::string> seen;
    for (const InstructionInfo& line : kTable) {
      CHECK(seen.insert(std::string(line.mnemonic)).second);
      CHECK(!line.semantics.empty());
    }
  }

  TEST_CASE("only memory instructions move bytes and only floating ones count flops") {
    for (const InstructionInfo& line : kTable) {
      INFO(line.mnemonic);
      CHECK((line.bytes_loaded + line.bytes_stored > 0) == (line.issue == IssueClass::memory));
      if (line.flops > 0) CHECK(line.issue == IssueClass::floating);
    }
  }

  TEST_CASE("matrix instructions but those with no-MAC feed the matrix unit") {
    Instruction amp{.mnemonic = Mnemonic::amp_h};
    CHECK(feeds_matrix_unit(amp));
    amp.imm = 1 << 4;
    CHECK_FALSE(feeds_matrix_unit(amp));
    CHECK_FALSE(feeds_matrix_unit({.mnemonic = Mnemonic::fma_4h}));
  }

  TEST_CASE("phases from 8 on move to another opcode, and the others stand where they stood") {
    Instruction amp{.mnemonic = Mnemonic::amp_hs, .rd = 2, .rs1 = 1, .rs2 = 31};
    for (const std::int32_t number : {0, 8, 7, 16, 31, 32, 39, 64 + 16, 127}) {
      CAPTURE(number);
      amp.imm = number;
      const std::uint32_t word = encode(amp);
      CHECK(decode(word) == amp);
      const std::uint32_t near = 0x0200205bU | 2U << 7 | 1U << 15 | 31U << 20;
      if (number < 32) CHECK(word == (near | static_cast<std::uint32_t>(number) << 27));
      CHECK((word & 0x7fU) == (number < 32 ? 0x5bU : 0x0bU));
    }
    CHECK_FALSE(decode(0x0200200bU));  // phases below 8 have one encoding
    CHECK_FALSE(decode(0x0600000bU));  // no amp.* has this funct2
    const Instruction weights{.mnemonic = Mnemonic::ldcw, .rs1 = 11, .imm = 5 << 12 | 63 << 6};
    CHECK(decode(encode(weights)) == weights);
    CHECK((encode(weights) & 0xf80U) == 5U << 7);
  }

  TEST_CASE("a run with blocks is a run with bit 31 and a number beside it") {
    const Instruction run{.mnemonic = Mnemonic::run, .rd = 12, .rs1 = 10, .rs2 = 11};
    Instruction blocks = run;
    blocks.mnemonic = Mnemonic::run_block;
    for (const std::int32_t number : {0, 1, 27, 63}) {
      blocks.imm = number;
      CHECK(decode(encode(blocks)) == blocks);
      CHECK(encode(blocks) == (encode(run) | 1U << 31 | static_cast<std::uint32_t>(number) << 25));
    }
  }
}
