#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"

using namespace tessera::test;

/// Users' programs under `exec` and `disasm`: what they leave, and broken files.
namespace {

std::string path_of(const std::string& program) {
  return fmt::format("{}/{}.elf", TESSERA_BARE_PROGRAMS, program);
}

std::string good_program() {
  std::ifstream file(path_of("exit_three"), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The good program with one byte of its file header changed.
std::string with_byte(std::size_t at, char value) {
  std::string bytes = good_program();
  bytes.at(at) = value;
  return bytes;
}

constexpr std::size_t kClass = 4;
constexpr std::size_t kByteOrder = 5;
constexpr std::size_t kType = 16;
constexpr std::size_t kMachine = 18;
constexpr std::size_t kFlags = 36;

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("a bare program's exit code is the command's") {
    const CommandFolder folder;
    const Answer answer = folder.call("exec " + path_of("exit_three"));
    CHECK(answer.code == 3);
    CHECK(answer.out.empty());
    CHECK(holds(answer.err, "the program's own exit code 3, 18 cycles, 3 slots, 3 instructions"));
  }

  TEST_CASE("stdout holds what a bare program writes and nothing else") {
    const CommandFolder folder;
    const Answer answer = folder.done("exec " + path_of("hello"));
    CHECK(answer.out == "hello\n");
    CHECK(holds(answer.err, "exit code 0, "));
  }

  TEST_CASE("a broken ELF file is refused with what it is") {
    const std::string good = good_program();
    REQUIRE(good.size() > 100);
    const std::pair<std::string, const char*> files[] = {
        {"", "a.elf: not an ELF file"},
        {good.substr(0, 3), "a.elf: not an ELF file"},
        {good.substr(0, 30), "a.elf: truncated: the file header"},
        {good.substr(0, 60), "a.elf: truncated: the program header table"},
        {good.substr(0, good.size() - 1), "a.elf: truncated: the section header table"},
        {with_byte(kClass, 2), "a.elf: a 64-bit ELF file, needed is 32-bit RISC-V"},
        {with_byte(kByteOrder, 2), "a.elf: a big-endian ELF file"},
        {with_byte(kMachine, 62), "a.elf: for ELF machine 62, needed is 243 (RISC-V)"},
        {with_byte(kType, 1), "a.elf: an object file; link it first"},
        {with_byte(kType, 3), "a.elf: not a statically linked program"},
        {with_byte(kFlags, 1), "a.elf: has compressed instructions"}};
    const CommandFolder folder;
    for (const auto& [bytes, message] : files) {
      folder.write("a.elf", bytes);
      check_refused(folder, "exec a.elf", {message});
      check_refused(folder, "disasm a.elf", {message});
    }
  }
}
