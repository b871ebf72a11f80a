#include "sim/isa/intrinsics.h"

#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "sim/base/embedded.h"
#include "sim/config/json_text.h"
#include "sim/elf/codelet.h"
#include "sim/isa/decode.h"
#include "sim/isa/table.h"

using namespace tessera;

namespace {

std::vector<isa::Instruction> instructions() {
  constexpr const char* kFile = "tests/sim/isa/intrinsics/codelets.elf";
  std::vector<isa::Instruction> all;
  for (const program::Codelet& codelet : elf::codelets(elf::read(embedded::find(kFile), kFile))) {
    for (std::size_t at = 0; at < codelet.code.size(); at += 4) {
      std::uint32_t word = 0;
      std::memcpy(&word, codelet.code.data() + at, sizeof word);
      all.push_back(*isa::decode(word));
    }
  }
  return all;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("C++ tile code reaches every Xtile instruction but those that branch") {
    std::set<isa::Mnemonic> made;
    for (const isa::Instruction& one : instructions()) made.insert(one.mnemonic);
    for (auto i = isa::index(isa::Mnemonic::flh_p); i < isa::kMnemonics; ++i) {
      const auto mnemonic = static_cast<isa::Mnemonic>(i);
      INFO(isa::info(mnemonic).mnemonic);
      const bool branches = mnemonic == isa::Mnemonic::rpt || mnemonic == isa::Mnemonic::bdnz;
      CHECK(made.contains(mnemonic) == !branches);
    }
  }

  TEST_CASE("numbers given as template arguments and groups of registers reach the instruction") {
    using enum isa::Mnemonic;
    const std::map<isa::Mnemonic, std::int32_t> numbers{
        {ldcw, 0xfff}, {run_block, 0x1b}, {lw_p, 2047}, {lhu_p, -2048}, {amp_h, 27}};
    for (const isa::Instruction& one : instructions()) {
      if (const auto number = numbers.find(one.mnemonic); number != numbers.end())
        CHECK(one.imm == number->second);
      if (one.mnemonic == amp_b)
        CHECK(one == isa::Instruction{.mnemonic = amp_b, .rd = 7, .rs1 = 21, .rs2 = 3});
      if (one.mnemonic == ld4) CHECK(one.rd == 28);  // ft8 to ft11
    }
  }

  TEST_CASE("kernels and tests name instructions; only the generator encodes them") {
    std::vector<std::string> encoding;
    for (const char* folder : {"kernels", "tests"})
      for (const auto& entry :
           std::filesystem::recursive_directory_iterator(std::string(TESSERA_SOURCE "/") + folder))
        if (entry.is_regular_file() && config::read_text(entry.path().string())
                                               .find("."
                                                     "insn") != std::string::npos)
          encoding.push_back(entry.path().string());
    CHECK(encoding == std::vector<std::string>{});
  }
}
