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

  TEST_CASE("a matrix instruction without multiply-adds counts no flops") {
    Instruction amp{.mnemonic = Mnemonic::amp_h};
    CHECK(flops(amp) == 128);
    amp.imm = 1 << 4;
    CHECK(flops(amp) == 0);
    CHECK(flops(Instruction{.mnemonic = Mnemonic::fma_4h}) == 8);
    CHECK(flops(Instruction{.mnemonic = Mnemonic::fmadd_s}) == 2);
    CHECK(flops(Instruction{.mnemonic = Mnemonic::lw}) == 0);
  }
}
