#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/isa/decode.h"
#include "sim/isa/disassemble.h"
#include "sim/isa/encode.h"
#include "sim/isa/intrinsics.h"
#include "sim/isa/table.h"
#include "tests/folder.h"

using namespace tessera::isa;

namespace {

bool has_clang() { return std::system("clang-14 --version >/dev/null 2>&1") == 0; }

bool has_target(const InstructionInfo& line) {
  return line.format == Format::b || line.format == Format::j;
}

/// A random instruction that clang can assemble: no backward distances (clang takes distances, our
/// disassembly shows addresses), and only the fences that the manual names.
Instruction random_instruction(Mnemonic mnemonic, std::mt19937& random) {
  const InstructionInfo& line = info(mnemonic);
  for (;;) {
    const std::uint32_t word = (static_cast<std::uint32_t>(random()) & ~line.mask) | line.match;
    auto made = decode(word);
    if (!made) continue;
    if (has_target(line) && made->imm < 0) continue;
    if (mnemonic == Mnemonic::fcvt_s_h) made->rm = 0;
    if (mnemonic == Mnemonic::fence) {
      const auto sets = static_cast<std::int32_t>(random() & 0xffU);
      *made = {.mnemonic = mnemonic, .imm = (sets & 0xf0) == 0 || (sets & 15) == 0 ? 0x33 : sets};
    }
    return *made;
  }
}

std::vector<std::uint32_t> assemble(const tessera::test::Folder& scratch, const std::string& text) {
  scratch.write("xtile.h", intrinsics_header());
  scratch.write("a.S", "#include \"xtile.h\"\n" + text);
  const std::string command = "clang-14 -target riscv32 -march=rv32imfd_zfh_zba -mno-relax -c " +
                              scratch.file("a.S") + " -o " + scratch.file("a.o") +
                              " && ld.lld-14 -m elf32lriscv -Ttext=0 --oformat=binary " +
                              scratch.file("a.o") + " -o " + scratch.file("a.bin") + " 2>/dev/null";
  REQUIRE(std::system(command.c_str()) == 0);
  std::ifstream file(scratch.file("a.bin"), std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), words.size() * 4);
  return words;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("clang assembles our disassembly of every mnemonic to the same word") {
    if (!has_clang()) {
      MESSAGE("skipped: clang-14 is not installed");
      return;
    }
    constexpr int kEach = 60;
    std::mt19937 random(3);
    std::string text;
    std::vector<std::uint32_t> expected;
    for (std::size_t i = 0; i < kMnemonics; ++i) {
      for (int k = 0; k < kEach; ++k) {
        const Instruction one = random_instruction(static_cast<Mnemonic>(i), random);
        expected.push_back(encode(one));
        text += disassemble(one, 0) + "\n";
      }
    }
    const tessera::test::Folder scratch;
    const std::vector<std::uint32_t> words = assemble(scratch, text);
    REQUIRE(words.size() == expected.size());
    std::size_t different = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] == expected[i]) continue;
      if (++different > 10) break;
      CHECK_MESSAGE(false, disassemble(expected[i], 0), " came back as ", disassemble(words[i], 0));
    }
    CHECK(different == 0);
  }
}
