#include <cstring>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/elf/codelet.h"
#include "sim/isa/decode.h"

using namespace tessera;

namespace {

/// Number of instructions in a codelet's inner loop, which must start at a dual-issue pair.
std::uint64_t loop_instructions(const std::string& name) {
  const program::Codelet codelet = tessera::elf::embedded_codelet("butterfly", name);
  for (std::size_t at = 0; at < codelet.code.size(); at += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, &codelet.code[at], sizeof word);
    const auto instruction = isa::decode(word);
    REQUIRE(instruction.has_value());
    if (instruction->mnemonic != isa::Mnemonic::rpt) continue;
    CHECK((at + 4) % 8 == 0);
    return static_cast<std::uint64_t>(instruction->imm - 4) / 4;
  }
  return 0;
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("inner loops hold their multiply-adds, loads and stores and nothing else") {
    for (const char* type : {"f16", "f32"})
      for (const char* parameters : {"free", "rotation"}) {
        CHECK(loop_instructions(fmt::format("butterfly_{}_{}_1", type, parameters)) == 8);
        CHECK(loop_instructions(fmt::format("butterfly_{}_{}_2", type, parameters)) == 24);
      }
    CHECK(loop_instructions("butterfly_complex_free_1") == 28);
  }
}
