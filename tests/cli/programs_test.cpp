#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"

using namespace tessera::test;

/// Users' programs under `exec` and `disasm`: broken files, programs that fault, that never end.
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

  TEST_CASE("a program that faults is stopped with address and instruction") {
    const std::pair<const char*, std::vector<std::string>> programs[] = {
        {"misaligned", {"lw t1, 0(t0): misaligned access, address 0x12002"}},
        {"out_of_range", {"sw zero, 4(t0): access outside of SRAM, address 0x7ffffff4"}},
        {"write_to_code", {"sw zero, 0(t0): write to code, address 0x"}},
        {"illegal", {".word 0xffffffff: illegal instruction"}},
        {"runs_off", {"no code is there; it ends at "}},
        {"into_data", {"into_data.elf: at 0x", ": no code is there; it ends at 0x"}},
        {"supervisor_only", {"xctl 16"}},
        {"double_arithmetic", {".word 0x0220f053: double-precision arithmetic"}}};
    const CommandFolder folder;
    for (const auto& [program, message] : programs) {
      check_refused(folder, "exec " + path_of(program), message);
    }
  }

  TEST_CASE("a program that never ends is given up at the limit") {
    const CommandFolder folder;
    check_refused(folder, "exec --max-cycles 60000 " + path_of("endless"),
                  {"endless.elf: still running after 60000 cycles, the limit (--max-cycles)",
                   "pc 0x", "(_start): jal zero, 0x", "ra 0xfffffffc", "t6 0x00000000"},
                  3);
    check_refused(folder, "exec --max-cycles 12 " + path_of("exit_three"),
                  {"exit_three.elf: still running after 18 cycles, the limit (--max-cycles)",
                   "a0 0x00000003", "a7 0x0000005d"},
                  3);
  }

  TEST_CASE("exec takes a limit as run does") {
    const CommandFolder folder;
    check_refused(folder, "exec --max-cycles 6e4 " + path_of("endless"),
                  {"still running after 60000 cycles"}, 3);
    const std::string allowed = ", allowed an integer from 1 cycles";
    for (const std::string found : {"0", "1.5", "\"none\""}) {
      check_refused(folder, fmt::format("exec --max-cycles '{}' {}", found, path_of("endless")),
                    {fmt::format("--max-cycles {0}: max_cycles: found {0}{1}", found, allowed)});
    }
  }

  TEST_CASE("what exec and disasm do not know is refused with the nearest name") {
    const CommandFolder folder;
    const std::string program = path_of("exit_three");
    check_refused(folder, "exec --machine bwo " + program,
                  {"found \"bwo\", allowed a preset (aie2_2x2, aie2_3x3, aie2_4x4, aie2_5x5, "
                   "aie2_6x6, aie2_7x7, aie2_8x8, bow, gc2, gc200,",
                   "did you mean bow?"});
    folder.write("m.json", R"({"extends": "bow", "tiels": 4})");
    check_refused(folder, "exec --machine m.json " + program,
                  {"m.json: machine.tiels: found an unknown key", "did you mean tiles?"});
    check_refused(folder, "disasm --symbol _strat " + program,
                  {"has no symbol _strat; did you mean _start?"});
  }
}
